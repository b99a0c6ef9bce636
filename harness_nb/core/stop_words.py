"""Words that say nothing about what somebody looks for, in seven languages, as OpenClaw's search leaves them out."""

from __future__ import annotations

_ENGLISH = """
    a about above after ago an and anything are as at be because been before being below between but by can could did do
    does during earlier everything find for from get give had has have he help how i if in into is it just later may me
    might my nothing now of on or our over please recently she should show something stuff tell that the them then these
    they thing things this those through to today tomorrow under was we were what when where which while who why will with
    would yesterday you your
"""
_SPANISH = """
    a ahora antes ayer ayuda como con cuando cuándo cómo de del despues después donde dónde el ellas ellos en entre es esa
    ese esta estar este favor fue fueron haber hacer hoy la las los mañana me mi nosotras nosotros o para pero por porque
    porqué que qué recientemente ser si sobre son tener tu tus un una unos unas usted ustedes y yo
"""
_PORTUGUESE = """
    a agora ajuda amanhã antes as com como da de depois do e ela elas ele eles em entre essa esse esta estar este eu favor
    fazer foi foram hoje mas me meu minha nos nós o onde ontem os ou para por porque porquê quando que quê recentemente se ser
    sobre são ter um uma umas uns você vocês é
"""
_ARABIC = """
    ال و أو لكن ثم بل أنا نحن هو هي هم هذا هذه ذلك تلك هنا هناك من إلى الى في على عن مع بين ل ب ك كان كانت يكون تكون صار
    أصبح يمكن ممكن بالأمس امس اليوم غدا الآن قبل بعد مؤخرا لماذا كيف ماذا متى أين هل فضلا ساعد
"""
_KOREAN = """
    은 는 이 가 을 를 의 에 에서 로 으로 와 과 도 만 까지 부터 한테 에게 께 처럼 같이 보다 마다 밖에 대로 나 나는 내가 나를 너 우리 저 저희
    그 그녀 그들 이것 저것 그것 여기 저기 거기 있다 없다 하다 되다 이다 아니다 주다 오다 가다 것 거 등 수 때 곳 중 분 잘 더 또 매우 정말 아주
    많이 너무 좀 그리고 하지만 그래서 그런데 그러나 또는 그러면 왜 어떻게 뭐 언제 어디 누구 무엇 어떤 어제 오늘 내일 최근 지금 아까 나중 전에 제발 부탁
"""
_JAPANESE = """
    これ それ あれ この その あの ここ そこ あそこ する した して です ます いる ある なる できる の こと もの ため そして しかし また でも から
    まで より だけ なぜ どう 何 いつ どこ 誰 どれ 昨日 今日 明日 最近 今 さっき 前 後
"""
_CHINESE = """
    我 我们 你 你们 他 她 它 他们 这 那 这个 那个 这些 那些 的 了 着 过 得 地 吗 呢 吧 啊 呀 嘛 啦 是 有 在 被 把 给 让 用 到 去 来 做 说 看
    找 想 要 能 会 可以 和 与 或 但 但是 因为 所以 如果 虽然 而 也 都 就 还 又 再 才 只 之前 以前 之后 以后 刚才 现在 昨天 今天 明天 最近
    东西 事情 事 什么 哪个 哪些 怎么 为什么 多少 请 帮 帮忙 告诉
"""
KOREAN_STOP_WORDS = frozenset(_KOREAN.split())
STOP_WORDS = frozenset(
    word for words in (_ENGLISH, _SPANISH, _PORTUGUESE, _ARABIC, _JAPANESE, _CHINESE) for word in words.split()
)
STOP_WORDS |= KOREAN_STOP_WORDS

KOREAN_PARTICLES = (
    "에서", "으로", "에게", "한테", "처럼", "같이", "보다", "까지", "부터", "마다", "밖에", "대로",
    "은", "는", "이", "가", "을", "를", "의", "에", "로", "와", "과", "도", "만",
)  # fmt: skip
"""Endings that are taken off a Korean word, long ones first."""
