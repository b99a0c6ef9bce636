"""The rule that recognises a user's standing instructions, in English: what is to hold from now on, not for one answer.

A sentence is one when any of these holds, also in the middle of it. Code, quotations and questions are left out, but for
polite ones ("could you always ...").

* It says how long: "from now on", "going forward", "at all times", "for the rest of this session", "without exception", ...
* It orders with always, never, do not or must: at its start, behind a comma, "please", "you should", "make sure to",
  "I want you to", ... ("By the way, please always answer in metric units.")
* It orders for every occasion: whenever, every time or each time "I ask", "you write", ... ("Whenever I ask for SQL, use
  CTEs.", "Cite a source whenever you give a figure.")
* It says what "you", "your answers", "all code", ... must or must not.
* It says what to do in a case of which there may be many: if a, an or any, when you do, before you do, when I ask, ... ("If a
  test fails, stop and tell me.", "Before you answer, restate my question.")
* It orders something for every answer: "every reply", "in your answers", "reply ... only".
* It is labelled as one: "Rule:", "Hard requirement:", "Code conventions:", ...

An order that needs the sentence before it is taken together with that: "The limit is 20 MB. Don't exceed it."; and what
only says how long, with the sentence behind it: "For the rest of this session: metric units."

What somebody tells ("I never tried it", "every time I run it, it fails") is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_SENTENCES = 8
"""Most sentences that are taken from one message: more is a document that somebody pasted."""

MOST_CHARS = 300
"""A longer sentence is taken from the clause on that makes it one, up to this length in characters."""

_IGNORED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|^(?: {4}|\t|>)[^\n]*", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(
    r"[^\n]+?(?:[!?](?=\s)|(?<!e\.g)(?<!i\.e)(?<!\betc)(?<!\bvs)(?<!\bcf)(?<!approx)\.(?=\s)|(?=\n)|\Z)", re.IGNORECASE
)
_LIST_MARK = re.compile(r"\s*(?:(?:[-*+•]|\(?\d{1,3}[.)])\s+)?")

_WHO = r"(?:always|never|do\s+not|don['’]t|must(?:\s+not)?)"
_LASTING = re.compile(
    r"\b(?:from\s+(?:now|here|this\s+point)\s+on(?:wards?)?|(?:going|moving)\s+forward|at\s+all\s+times|until\s+i\s+say\s+otherwise"
    r"|under\s+no\s+circumstances|without\s+exception|for\s+the\s+(?:rest|remainder)\s+of\s+(?:this|the|our)\s+\w+"
    r"|in\s+(?:all\s+|every\s+|each\s+)?(?:of\s+)?(?:your\s+|the\s+)?(?:future|further|following|subsequent)\s+(?:answer|repl|response|message)\w*)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:please|kindly|you\s+(?:should|must|shall|have\s+to|need\s+to|ought\s+to|are\s+to|can|may|will)|you['’]ll"
    r"|(?:make|be)\s+sure\s+(?:to|that\s+you|you)|(?:remember|try)\s+to|(?:want|need|like|ask|tell|expect|prefer)(?:ing)?\s+you\s+to"
    r"|(?:can|could|would|will)\s+you(?:\s+please)?)\s+(?:also\s+|just\s+)?" + _WHO + r"\b",
    re.IGNORECASE,
)
_ORDER = re.compile(r"(?P<before>\A|[,;:(–—]\s*|\s-+\s+|\b(?:and|but|so|also|then|or)\s+)(?P<who>always|never|do\s+not|don['’]t)\s+"
                    r"(?P<verb>[a-z'’]+)", re.IGNORECASE)  # fmt: skip
_OCCASION = re.compile(
    r"\b(?:whenever|any\s?time|every\s+time|each\s+time)\s+(?:i|you|we|there|a|an|the)\b", re.IGNORECASE
)
_CASE = re.compile(
    r"(?:\A|:\s+)(?:(?:if|when|once|in\s+case)\s+(?:an?|any|anyone|anybody|anything|someone|somebody|something)\b"
    r"|(?:when|before|after|once)\s+you\s+(?!(?:get|have|can|could|are|feel|want|like|need)\b)[a-z]+\b"
    r"|when\s+i\s+(?:ask|say|mention|paste|send|give|write)\b)",
    re.IGNORECASE,
)
_EVERY_ANSWER = re.compile(
    r"\b(?:(?:every|each|all)\s+(?:of\s+)?(?:your\s+|the\s+)?(?:\w+\s+)?|in\s+your\s+)(?:repl(?:y|ies)|answers?|responses?)\b"
    r"|\A(?:reply|answer|respond)\b[^,;]*\bonly\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\A\W*(?:[\w-]+\s+){0,2}(?:rules?|constraints?|requirements?|restrictions?|polic(?:y|ies)|guidelines?|conventions?|principles?"
    r"|preferences?)(?:\s+\d+)?\s*:\s*(?=\S)",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\s*(?:[a-z]+\s+)(?:is|are|was|were|will|would|can|could|should|may|might|gets?|has|have|does|do)\b"
)
_LEANS = re.compile(
    r"\A(?:(?:please|but|and|so)\W+)?(?:always|never|do\s+not|don['’]t)\s+(?:ever\s+)?[a-z]+"
    r"(?:\s+(?:it|this|that|them|these|those|so|there|without|unless|until|before|except)\b|\W*\Z)",
    re.IGNORECASE,
)
"""An order that says too little by itself: its object is a word for what was said before, or there is none."""

_MUST = re.compile(
    r"\b(?:you|(?:your|all|every|each|any|no)\s+(?:\w+\s+){0,3}\w+)\s+(?:must|shall)\s+(?:not\s+|never\s+|always\s+)?\w+",
    re.IGNORECASE,
)


_FORBIDS = re.compile(
    r"\b(?:never|no|stop|avoid|refuse|refrain|decline|do\s+not|don['’]t|(?:must|may|shall)\s+not|mustn['’]t|without\s+(?:\w+\s+){0,2}(?:approval|consent|permission))\b",
    re.IGNORECASE,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")
_POLITE = re.compile(r"\A\W*(?:please|(?:can|could|would|will)\s+you)\b", re.IGNORECASE)
_IDIOMS = _words(
    "worry mind know think understand get see have want need care remember believe feel like really even exactly be "
    "seem quite it"
)
"""Words after "don't" or "never" with which something else is said: "don't worry", "never mind"."""

_PAST = _words(
    "been had got was were did done gone went came seen saw heard told said made took found knew thought met ran "
    "wrote began became left lost felt held kept put set read is are am has does"
)
"""Verbs that tell something, and have no ending that shows it."""

_NO_ORDER = _words(
    "i i'm i've i'd i'll we we're we've it it's its he she they they're this that these those there here my our his "
    "her their the a an what when where why how which who whose is are was were do does did has have had can could "
    "would will should may might am if because since although though while as not no yes hi hello hey ok okay thanks "
    "thank well so and but or also then hmm it’s i’m i’ve i’d i’ll"
)
"""Words with which no order begins."""


_CUES = (
    *("always", "never", "do not", "don't", "don’t", "must", "shall"),
    *("now on", "here on", "this point on", "forward", "at all times", "until i say otherwise"),
    *("under no circumstances", "without exception", "for the rest of", "for the remainder of"),
    *("future", "further", "following", "subsequent"),
    *("whenever", "anytime", "any time", "every time", "each time"),
    *("if a", "when a", "once a", "in case", "when you", "before you", "after you", "once you", "when i "),
    *("if some", "when some", "once some", "reply", "replies", "answer", "response", "respond"),
    *("rule", "constraint", "requirement", "restriction", "polic"),
    *("guideline", "convention", "principle", "preference"),
)
"""Words without which no pattern matches: most messages have none, and then nothing else is looked at."""


def standing_instructions(text: str) -> tuple[str, ...]:
    """The sentences of a user's message that are standing instructions, word for word, in order, each once."""
    folded = " ".join(text.lower().split())
    if not any(map(folded.__contains__, _CUES)):
        return ()
    lines = _IGNORED.sub("\n", text).split("\n")
    found = dict.fromkeys(part for line in lines for part in _instructions(line[_mark_chars(line) :].strip()))
    return tuple(found)[:MOST_SENTENCES]


def forbids(instruction: str) -> bool:
    """Whether an instruction forbids something or tells to refrain from it, as against asking for it."""
    return _FORBIDS.search(instruction) is not None


def _instructions(line: str) -> Iterator[str]:
    """The standing instructions of one line: all of it where it is labelled so, or sentences of it."""
    if _LABEL.match(line) and not line.endswith("?"):
        yield _bounded(line, 0)
        return
    before: int | None = None  # where the sentence begins that is in front, unless it was taken
    scope: int | None = None  # the same where it only says for how long something holds
    for match in _SENTENCE.finditer(line):
        start = match.start() + _mark_chars(match.group())
        sentence = line[start : match.end()].strip()
        at = _place(sentence)
        if at is not None and scope is None and _LASTING.fullmatch(sentence.rstrip(".:!")):
            scope = start
            continue
        if at is not None or scope is not None:
            leans_on = scope if scope is not None else before if _LEANS.match(sentence) else None
            together = line[leans_on : match.end()].strip() if leans_on is not None else ""
            yield together if 0 < len(together) <= MOST_CHARS else _bounded(sentence, at or 0)
        before = start if at is None and scope is None and sentence.endswith(".") else None
        scope = None


def _mark_chars(text: str) -> int:
    """Length of the mark of a list at the start of a line or sentence."""
    return _LIST_MARK.match(text).end()  # type: ignore[union-attr]  # matches always


def _place(sentence: str) -> int | None:
    """Where in a sentence the instruction begins, or None when it is none."""
    if sentence.endswith("?") and not (_POLITE.match(sentence) and _ASKED.search(sentence)):
        return None
    places = [match.start() for pattern in (_LASTING, _ASKED, _MUST) if (match := pattern.search(sentence))]
    places += [match.start("who") for match in _ORDER.finditer(sentence) if _is_order(match, sentence)]
    places += [match.start() for match in _OCCASION.finditer(sentence) if _has_order(sentence, match)]
    places += [match.start() for match in _CASE.finditer(sentence) if _orders_then(sentence[match.end() :])]
    places += [match.start() for match in _EVERY_ANSWER.finditer(sentence) if _begins_order(sentence)][:1]
    return min(places, default=None)


def _is_order(match: re.Match[str], sentence: str) -> bool:
    """Whether "never use" and the like stand where somebody orders, and not where somebody tells."""
    verb, before = match["verb"].lower(), match["before"].strip().lower()
    if verb in _IDIOMS | _PAST or _is_participle(verb):
        return False
    if before and before[-1].isalpha():
        return _begins_order(sentence)
    return not before or not (verb.endswith("s") and not verb.endswith("ss"))


def _has_order(sentence: str, occasion: re.Match[str]) -> bool:
    """Whether a sentence with "whenever" orders something: before it, or behind the comma that ends its clause."""
    if sentence[: occasion.start()].strip(" \t,;"):
        return _begins_order(sentence)
    _, comma, rest = sentence[occasion.end() :].partition(",")
    return bool(comma) and _begins_order(rest)


def _orders_then(text: str) -> bool:
    """Whether an order stands behind the comma that ends a clause, and not what is or happens in that case."""
    _, comma, rest = text.partition(",")
    rest = rest.removeprefix(" then").strip()
    return bool(comma) and rest[:1].islower() and _begins_order(rest) and not _TELLS.match(rest)


def _begins_order(text: str) -> bool:
    """Whether a text begins with a word that may be the verb of an order."""
    word = _WORD.search(text)
    first = word.group().lower() if word else ""
    is_verb = not _is_participle(first) and (not first.endswith("s") or first.endswith(("ss", "us", "always")))
    return bool(first) and is_verb and first not in _NO_ORDER | _PAST


def _is_participle(word: str) -> bool:
    """Whether a verb is in a form in which nobody orders: "tried", "trying", and not "exceed" or "bring"."""
    return word.endswith(("ed", "ing")) and not word.endswith("eed") and word not in ("embed", "bring")


def _bounded(sentence: str, at: int) -> str:
    """The sentence, or where that is long the part of it from the instruction on, cut between words."""
    if len(sentence) <= MOST_CHARS:
        return sentence
    part = sentence[at:]
    return part if len(part) <= MOST_CHARS else part[:MOST_CHARS].rsplit(None, 1)[0]
