"""Signs by which a sentence shows what it is: a fact worth keeping, a question, a task, a name of a file."""

from __future__ import annotations

import re
from typing import NamedTuple

from harness_nb.model.sentences import sentences, without_code


class _Cue(NamedTuple):
    topic: str
    weight: int
    pattern: re.Pattern[str]


def _cue(topic: str, weight: int, pattern: str) -> _Cue:
    return _Cue(topic, weight, re.compile(pattern, re.IGNORECASE))


PREFERENCES, PEOPLE, DECISIONS, DATES, FACTS = "Preferences", "People", "Decisions", "Dates and deadlines", "Facts"
TOPICS = (PEOPLE, PREFERENCES, DECISIONS, DATES, FACTS)
"""Headings under which facts are kept."""

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)day"
_CUES = (
    _cue(
        FACTS,
        4,
        r"\b(?:remember|please note|note that|don't forget|do not forget|keep in mind|for the record)\b"
        r"|记住|记得|请记|覚えて|忘れないで|기억",
    ),
    _cue(
        FACTS, 2, r"\b(?:important|turns out|the (?:root )?cause|because of|is (?:stored|located|called|named))\b|重要"
    ),
    _cue(
        PREFERENCES,
        3,
        r"\b(?:i|we|they|he|she)(?:'d| would)? (?:really |always |usually |strongly )?"
        r"(?:prefer|like|love|hate|dislike|want|avoid|enjoy)|\bpreferences?\b|\bfavou?rite\b|\balways use\b"
        r"|\bnever (?:use|touch|push|commit|delete|run)\b|\ballerg|喜欢|偏好|不要用|讨厌|好き|嫌い|좋아|싫어",
    ),
    _cue(
        PEOPLE,
        3,
        r"\bmy name is\b|\bcall me\b|\bi(?:'m| am) (?:a|an|from|the|\d|working|based|responsible)\b"
        r"|\bi (?:live|work|moved|study|was born)\b"
        r"|\bmy (?:wife|husband|partner|son|daughter|mother|father|sister|brother|boss|manager|team|colleague|friend|dog|cat"
        r"|email|e-mail|phone|birthday|address|job|company)\b|我叫|我是|我的|住在|名前は|と申します|住んで|이름은",
    ),
    _cue(PEOPLE, 2, r"\b(?:responsible for|owns the|leads the|in charge of|maintains|reports to)\b|负责|担当"),
    _cue(
        DECISIONS,
        3,
        r"\b(?:we|i|they|team)(?:'ve| have)? (?:already |finally )?"
        r"(?:decided|agreed|chose|chosen|settled|switched|picked|opted|went with)\b|\bdecision\b"
        r"|\blet's (?:use|go with|stick|keep)\b|\b(?:we|i)(?:'ll| will| shall) (?:use|go with|keep|stick|migrate|switch)\b"
        r"|\binstead of\b|\bmust (?:not |never |always )?\w|决定|选择|采用|決め|決定|することにし|결정",
    ),
    _cue(
        DATES,
        3,
        r"\b(?:deadline|due (?:on|by|date)|expires?|scheduled|appointment|kick-?off|release date|launch(?:es)? on"
        r"|by (?:the )?end of)\b|截止|期限|締め?切り?|마감",
    ),
    _cue(
        DATES,
        2,
        rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b{_MONTH}\.? \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?\.? (?:of )?{_MONTH}\b"
        rf"|\b(?:on|by|until|every|next|this) {_DAY}\b|\d+月\d+日",
    ),
    _cue(DATES, 1, r"\b(?:tomorrow|next (?:week|month|year)|at \d{1,2}(?::\d\d| ?[ap]m))\b|明天|下周|明日|来週"),
    _cue(
        FACTS,
        1,
        r"[$€£]\s?\d|\b\d[\d.,]*\s?(?:%|€|\$|£|gb|mb|kb|ms|kg|km|hours?|minutes?|days?|weeks?|months?|years?|tokens?"
        r"|people|users?|rows?)(?!\w)",
    ),
)
_CASED = re.compile(r"(?<!^)(?<![.!?:] )\b[A-Z][a-z]{2,}\b")
_IS_ABOUT = re.compile(
    r"\b(?:is|are|was|were|has|have|had|uses?|needs?(?! to)|runs?|costs?|lives?|works?|takes?|starts?|ends?|owns?)\b"
    r"|[是有在用]|です|ます|다\b",
    re.IGNORECASE,
)
_CHATTER = re.compile(
    r"^(?:ok(?:ay)?|sure|thanks?|thank you|great|perfect|hello|hi|hey|good (?:morning|evening)|you're welcome|let me|i'll now"
    r"|i will now|now (?:i|let)|here(?:'s| is| are)|certainly|of course|i am the offline model|i found nothing|from [\w./-]+#\d"
    r"|running|checking|reading|looking)\b",
    re.IGNORECASE,
)
_QUESTION_WORD = re.compile(
    r"^(?:and |so |but |ok(?:ay)?,? |hi,? |please |then )*(?:what|which|who|whom|whose|when|where|why|how|do|does|did|is|are"
    r"|was|were|can|could|will|would|should|has|have|am|wer|wie|wann|wo|welche[rs]?|warum)(?:'s|n't)?\b",
    re.IGNORECASE,
)
_RECALL = re.compile(
    r"\b(?:recall|remind me|do you remember|tell me (?:what|when|who|where|about|which|how|the|my)|look up|search (?:the |your )?"
    r"(?:memory|notes|for)|find (?:out )?(?:what|when|who|where|the|my)|what do you know|list (?:what|all|my|the))\b"
    r"|还记得|记不记得|告诉我|教えて|思い出|알려",
    re.IGNORECASE,
)
_CJK_QUESTION = re.compile(
    r"(?:吗|呢|么|谁|哪[里个些]?|什么|几[点个]|多少|怎么|ですか|ますか|でしょうか|何|誰|いつ|どこ|까|니)[。？?！!\s]*$"
)
_TODO = re.compile(
    r"\bto-?do\b|\bnext(?: step|,|:| we| i)|\bremaining\b|\bstill (?:need|have|has|to|open|missing|left)"
    r"|\b(?:need|needs|have|has|plan|remains|want)s? to\b|\bwill (?:need|have) to\b|\bfollow up\b"
    r"|\bopen (?:question|issue|point|task)s?\b|\bleft to do\b|\bfixme\b|待办|接下来|下一步|需要|还要|次に|必要|해야",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"^(?:(?:and|also|but|so|please|ok(?:ay)?|just|remember(?: to| that)?|note(?: that)?|you (?:must|should|may|can))[,:]? )*"
    r"(?:always|never|don't ever|do not ever|every time|each time|whenever|(?:from|for) now on|in (?:the )?future|going forward)\b"
    r"|\b(?:from now on|going forward)\b|^(?:请)?(?:总是|永远|每次|今后)|^(?:必ず|絶対に?|いつも|今後は)|^(?:항상|절대|앞으로)",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"\b(?:always|never|from now on|whenever|every time|(?:make|be) sure|must|mustn't|(?:do not|don't) (?:ever|use|touch|push|change"
    r"|commit|delete|run|add|include|send|forget|show|give|write)|avoid|without (?:any|using|\w+ing)|only (?:use|in|with|on|if|when|after)"
    r"|(?:no|not) (?:more|less|later|earlier|longer) than|at (?:most|least)|within (?:\d|my|our|the)|(?:i|we)(?:'d)? (?:prefer|need|can't|cannot)"
    r"|rather than|instead of|stick (?:to|with)|require(?:s|d|ment)?|deadline|budget of|limit(?:ed)? (?:of|to))\b"
    r"|总是|永远|不要|必须|务必|每次|必ず|絶対|いつも|しないで|항상|반드시|하지 마",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^(?:please|let's|help|can|could|would you|i(?:'d| would)? (?:want|need|like)|we (?:want|need)|my goal|the goal"
    r"|(?:add|analy[sz]e|build|change|check|compare|create|debug|delete|describe|explain|fix|find|give|implement|improve|list"
    r"|look|make|migrate|move|plan|prepare|refactor|remove|rename|review|run|search|set up|show|summari[sz]e|test|translate"
    r"|update|use|write))\b|请|帮|ください|해줘",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"https?://[^\s<>\"'`)\]]+"
    r"|(?<![\w@/.])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]*\w"
    r"|(?<![\w/@.])[\w-]+(?:\.[\w-]+)*\.(?:py|ipynb|md|txt|json|jsonl|ya?ml|toml|cfg|ini|csv|tsv|parquet|sql|db|sqlite|html|css|jsx?"
    r"|tsx?|rs|go|java|kt|c|h|cpp|hpp|cs|rb|php|sh|bat|ps1|xml|log|lock|pdf|png|jpe?g|svg|docx?|xlsx?|pptx?|zip|gguf)\b(?![\w/])"
)
_MOST_IDENTIFIERS = 10
_FEWEST_LETTERS = 4  # a path alone states nothing
_IDENTIFIER = re.compile(r"`([^`\s]{3,60})`")
_MARK = re.compile(
    r"^(?:(?:user|human|assistant|ai|noted|note|please note|please remember|remember|don't forget)\b(?: that)?[:,]?\s+)+",
    re.IGNORECASE,
)


def fact_weight(sentence: str) -> int:
    """How much a sentence looks like a fact worth keeping; 0 for questions and chatter."""
    said = _PATH.sub("", sentence)
    if is_question(sentence) or _CHATTER.match(sentence) or sum(map(str.isalpha, said)) < _FEWEST_LETTERS:
        return 0
    found = sum(cue.weight for cue in _CUES if cue.pattern.search(sentence))
    named = (
        bool(_CASED.search(sentence))
        or bool(re.search(r"\d", sentence))
        or said != sentence
        or bool(_IDENTIFIER.search(sentence))
    )
    return found + (2 if named and _IS_ABOUT.search(sentence) else 0)


def topic_of(sentence: str) -> str:
    """The heading below which a fact belongs."""
    weights = dict.fromkeys(TOPICS, 0)
    for cue in _CUES:
        if cue.topic != FACTS and cue.pattern.search(sentence):
            weights[cue.topic] += cue.weight
    best = max(TOPICS, key=lambda topic: weights[topic])
    return best if weights[best] else FACTS


def is_question(sentence: str) -> bool:
    """Whether a sentence asks."""
    bare = sentence.strip().rstrip("\"'”’)*_ ")
    if bare.endswith(("?", "？")):
        return True
    return bool(_CJK_QUESTION.search(bare)) or (bool(_QUESTION_WORD.match(bare)) and not bare.endswith((".", "!", ":")))


def asks_to_recall(text: str) -> bool:
    """Whether a message wants something that was said before."""
    return bool(_RECALL.search(text)) or any(map(is_question, sentences(text)))


def is_request(sentence: str) -> bool:
    """Whether a sentence asks for something to be done or told."""
    return bool(_REQUEST.search(sentence)) or is_question(sentence)


def is_task(sentence: str) -> bool:
    """Whether a sentence names something still to be done."""
    return bool(_TODO.search(sentence)) and not says_little(sentence) and not is_question(sentence)


def is_standing(sentence: str) -> bool:
    """Whether a person tells what to do from now on, every time, or never."""
    return bool(_STANDING.search(sentence)) and not is_question(sentence)


def is_constraint(sentence: str) -> bool:
    """Whether a person says what must, must not or should always be done, or within which bounds."""
    return bool(_CONSTRAINT.search(sentence))


def says_little(sentence: str) -> bool:
    """Whether a sentence only greets, thanks, or introduces what follows it."""
    return sentence.rstrip("*_ ").endswith((":", "：")) or _CHATTER.match(sentence) is not None


def artifacts(text: str) -> list[str]:
    """Addresses, paths and files in order of first mention, each once; then a few identifiers in backticks."""
    found = dict.fromkeys(match.group().rstrip(".,;:") for match in _PATH.finditer(text))
    named = [match.group(1) for match in _IDENTIFIER.finditer(without_code(text)) if _is_code_name(match.group(1))]
    named = [name for name in dict.fromkeys(named) if name not in found]
    return [name for name in found if _names_a_place(name)] + named[-_MOST_IDENTIFIERS:]


def _names_a_place(name: str) -> bool:
    """False for `and/or`, dates and versions."""
    is_alternative = "/" in name and name.count("/") == 1 and "." not in name and name[0] not in "/~"
    return len(name) > 2 and not is_alternative and not re.fullmatch(r"[\d./-]+", name)


def _is_code_name(name: str) -> bool:
    """Whether something in backticks is a name in a program: `load_theme()`, `Text.invalidate`, `setTheme`."""
    return (
        re.fullmatch(r"[A-Za-z_][\w.:]{2,}(?:\(\))?", name) is not None
        and re.search(r"[a-z][A-Z]|_|\.|\(", name) is not None
    )


def bare_fact(sentence: str) -> str:
    """The sentence without speaker and without `remember that`, as it is compared and quoted."""
    return _MARK.sub("", sentence.strip()) or sentence.strip()
