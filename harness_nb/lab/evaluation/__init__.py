"""Evaluation mode: an agent on a fresh workspace made of fixtures, checks of what it answers and writes, nothing left behind."""

from harness_nb.lab.evaluation.case import Case, Finding, evaluation
from harness_nb.lab.evaluation.checks import Check
from harness_nb.lab.evaluation.fixtures import Fixtures
from harness_nb.lab.evaluation.report import EvaluationReport, Result
from harness_nb.lab.evaluation.tasks import Task, evaluate

__all__ = ["Case", "Check", "EvaluationReport", "Finding", "Fixtures", "Result", "Task", "evaluate", "evaluation"]
