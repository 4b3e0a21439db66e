"""The words by which consent and standing instructions are recognised, in English and Chinese.

Tables only; what is done with a find is decided by the text's structure in `consent` and `handoff`.
Every entry is a piece of a regular expression, to be used without regard to case.
"""

import re
from typing import Final

CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Characters that are written without spaces between words, as the inside of a character class."""

PERSON: Final = re.compile(
    r"\b(?:users?|person|humans?)\b(?!['’]?s?[-_/]\w)"  # noqa: RUF001 - both apostrophes are written
    r"(?!\s(?:accounts?|agents?|class|data|directory|error|experience|groups?|guide|ids?|input"
    r"|interface|manual|mode|models?|names?|objects?|profile|roles?|rows?|settings|space"
    r"|stories|story|tables?)\b)"
    r"|(?:用户|使用者|人类)(?!名|态|组|表|端|界面|空间|代理|数据|手册|目录|输入|体验|故事|模型|id|学)",
    re.IGNORECASE,
)
"""How a text names the user. `user interface` and its kind are things, not people."""

APPROVAL: Final = re.compile(
    r"\b(?:accept(?:s|ed)|agree[ds]?|allow(?:s|ed)|approv(?:al|e[ds]?)|authori[sz](?:ation|e[ds]?)"
    r"|confirm(?:s|ed)|consent(?:s|ed)?|go[- ]ahead|green[- ]?li(?:t|ghted)|okay(?:s|ed)|ok['’]d"  # noqa: RUF001 - as above
    r"|permi(?:ts|tted|ssion)|signed off|said (?:ok|okay|yes))\b"
    r"|批准|同意|授权|许可|允许|准许|答应|认可|确认|放行",
    re.IGNORECASE,
)
"""How a text claims that somebody allowed something."""

NOT_A_CLAIM: Final = re.compile(
    r"\b(?:not|never|no|nor|without|cannot|whether|if|unless|until|once|before|ask(?:s|ed|ing)?"
    r"|await(?:s|ed|ing)?|wait(?:s|ed|ing)?|pending|needs?|must|should|may|might|to be)\b|n['’]t\b"  # noqa: RUF001 - as above
    r"|未|没|不|是否|如果|除非|等待|等|待|需要|需|请求|之前|尚",
    re.IGNORECASE,
)
"""Words in front of an approval that make it denied, asked for or still to come."""

BE_FORM: Final = re.compile(r"\b(?:am|are|be|been|being|is|was|were|gets?|got)\s+\Z", re.IGNORECASE)
"""In front of an approval: then the user does not allow, unless `by the user` follows."""

BY_THE_PERSON: Final = re.compile(
    r"\W+(?:\w+\W+){0,3}?(?:by|from)\s+(?:the\s+|a\s+|our\s+)?(?:users?|person|humans?)\b",
    re.IGNORECASE,
)

ROLES: Final = (
    "assistant|developer|function|human|model|operator|person|system|tool|user"
    "|人类|助手|用户|系统|开发者"
)
"""Names of speakers: a text that begins with one and a colon reads as somebody else's turn."""

_LEAD_IN: Final = (
    r"(?:(?:and|but|so|also|then|just|ok(?:ay)?|again|note(?: that)?|remember(?: to)?|please|pls"
    r"|you|from now on|in future|for now|at all|make sure(?: that)?(?: you)?|be sure to|should|must"
    r"|do)\b,?\s+)*"
)
_ENGLISH_ORDER: Final = (
    r"(?:do\s+not|don['’]?t|must(?:\s+not|n['’]t)?|shall\s+not|may\s+not"  # noqa: RUF001 - as above
    r"|(?:never|always)(?=\s+(?!\w*[^e]ed\b|\w*[^s]s\b)\w)|avoid|only(?=\s+\w)|refrain\s+from"
    r"|under\s+no\s+circumstances|no\s+\w+ing|without\s+asking)\b"
)
_CHINESE_LEAD: Final = (
    r"(?:请|你|也|都|就|先|但|并且|而且|另外|记住|注意|以后|之后|今后|从现在起|绝对|千万)*"
)

ORDER: Final = re.compile(
    rf"\A[\s\-*•>#\d.)(\"'“‘]*{_LEAD_IN}{_ENGLISH_ORDER}"  # noqa: RUF001 - typographic marks open a clause too
    rf"|\A[\s\-*•>#\d.)(]*{_CHINESE_LEAD}(?:不要|别(?![的人处名称样墅])|勿|切勿|总是|始终|永远|只能|只许|一律)"
    r"|(?:必须|务必|禁止|严禁|不得|不准|不许)",
    re.IGNORECASE,
)
"""How a clause begins that forbids or demands: the order stands first, behind no subject but `you`.

`I don't know` and `it never works` have another subject and are none, and so is the report `checked
but never used`. The last Chinese group are
orders wherever they stand in a clause, because what comes before them there is a condition.
"""

NO_ORDER: Final = re.compile(
    r"\A\W*(?:do\s+not|don['’]?t)\s+(?:you|we|they)\b|不必须|不禁止|是否必须|要不要",  # noqa: RUF001 - as above
    re.IGNORECASE,
)
"""Questions and denials that look like an order."""
