from __future__ import annotations

import subprocess
import sys

import pytest

from harness_nb.errors import ConfigError
from harness_nb.lab.adapters.packages import foreign


def test_a_package_that_is_missing_is_named_with_the_extra_that_brings_it() -> None:
    with pytest.raises(ConfigError, match=r"no_such_package.*") as caught:
        foreign("no_such_package.part", "no-such-package")
    assert "harness_nb[bench]" in caught.value.remedy and "no-such-package" in caught.value.remedy


def test_a_package_of_another_version_is_told_by_what_it_does_not_have() -> None:
    assert foreign("json", "json", "dumps").dumps(1) == "1"
    with pytest.raises(ConfigError, match=r"has no json\.no_such"):
        foreign("json", "json", "no_such")


def test_no_adapter_loads_a_foreign_package_when_it_is_imported() -> None:
    code = (
        "import sys\n"
        "from harness_nb.lab.adapters import compactbench, conpact, inspect_ai, kit, langchain\n"
        "foreign = ('compaction_kit', 'compactbench', 'conpact', 'inspect_ai', 'langchain', 'langchain_core')\n"
        "print([name for name in foreign if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"
