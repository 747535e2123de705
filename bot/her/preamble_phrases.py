"""The phrases by which a model speaks of its task, in several languages. See `preamble`."""

from __future__ import annotations

import re

_ASKS = (
    r"(?:want|ask|need|say|said|told|tell|request|gave|give|provid|is |has |just |would|wrote|"
    r"write|describ|set |start|input|expect|mention|sent|now |wish|'s |’s )"
)
_TASKS = (
    rf"\b(?:the|this)\s+user\s+{_ASKS}",
    rf"\A\W*user\s+{_ASKS}",
    r"\buser['’]s\s+(?:\w+\s+){0,2}(?:message|request|input|prompt|line|turn|query)",
    r"\b(?:stay|remain|keep|respond|reply|answer|speak|be|being|write)(?:ing)?\s+in[- ]character\b",
    r"\b(?:system prompt|chat history|word limit|output format)\b",
    r"\brole-?\s?play(?:ing)?\s+(?:scenario|session|scene|prompt|context|as)\b",
    (
        r"\b(?:play|portray|embody|act|adopt|assume)(?:ing)?\s+(?:as\s+)?(?:the|this|a)\s+(?:\w+\s+){0,2}"
        r"(?:character|persona)\b"
    ),
    r"\b(?:need|have|going|supposed|asked|want|wants)\s+(?:\w+\s+)?to\s+(?:respond|reply)\s+as\b",
    r"\b(?:should|must|will|'ll|’ll)\s+(?:respond|reply)\s+as\b",
    r"\b(?:in the voice|from the (?:perspective|point of view)) of (?:the|this|my) character\b",
    (
        r"\b(?:craft|generate|formulate|come up with|structure)(?:ing)?\s+"
        r"(?:a|an|the|my|her|his|their)\s+"
        r"(?:[\w-]+\s+){0,2}(?:response|reply|dialogue|output|next line)\b"
    ),
    r"\b(?:my|the)\s+(?:response|output)\s+(?:should|must|needs to|has to)\b",
    r"用户(?:想|要|让|希望|说|的|给|问|是|发|提供|请|现在|刚|在|输入|需|提|扮)",
    (
        r"角色扮演(?:任务|场景|对话|的)|我(?:现在)?(?:需要|要|得|应该|将|来)扮演|"
        r"我(?:的)?(?:回复|回答)(?:应该|要|需)|(?:保持|符合)(?:角色|人设|人物)"
    ),
    r"以.{1,12}的(?:身份|口吻|角度|视角)(?:来)?(?:回复|回答|回应)",
    r"ユーザー(?:は|が|の|から)|キャラクターを演じ",
    r"사용자(?:가|는|의)|역할을 (?:맡|연기)해야",
    r"\bl['’]utilisat(?:eur|rice)\s+(?:veut|demande|me|souhaite|a |vient|dit|attend)",
    r"\bder\s+(?:nutzer|benutzer|user)\s+(?:will|möchte|bittet|fragt|hat|sagt|gibt|erwartet)",
    r"\bin\s+der\s+rolle\s+(?:bleiben|antworten)\b",
    r"\bel\s+usuario\s+(?:quiere|pide|me|ha|dice|desea|espera)",
    r"\bo\s+usuário\s+(?:quer|pede|me|disse|deseja|está)|\bl['’]utente\s+(?:vuole|chiede|mi|ha)",
    r"пользователь\s+(?:хочет|просит|пишет|спрашивает|попросил|дал)",
)
TASK = re.compile("|".join(f"(?:{task})" for task in _TASKS), re.IGNORECASE)
INTERJECTION = re.compile(
    r"\W*(?:okay|ok|alright|all right|right|well|hmm+|hm|so|now|sure|first|let me|let's|let’s|"
    r"got it|understood|好的?|嗯+|那么|首先|让我|我需要|我要|我应该|现在|"
    r"d['’]accord|bon|bien|alors|gut|also|vale|bueno|certo|хорошо|ладно|итак|さて|では|まず|자|좋아)"
    r"(?![^\W\d_\u2e80-\U0010ffff])",
    re.IGNORECASE,
)
FIRST_WORD = re.compile(
    r"\W*(?:the|this|user|we|i|i['’]m|i['’]ll|as|in|my|to|how|here|given|since|based|looking|"
    r"thinking|let|let['’]s|got|all|der|el|o|пользователь)(?!\w)|\W*(?:l['’]utili|用户|我|以|根据|ユーザー|キャラ|사용자)",
    re.IGNORECASE,
)
"""The first word of a reply that speaks of its task without an interjection."""

STEP = re.compile(
    r"\W*(?:(?:first|second|third|next|finally|also|additionally|wait|hmm+|maybe|"
    r"perhaps|considering|given|since|overall)\b|\d{1,2}[.)] |[-•] |首先|其次|接下来|最后|"
    r"另外|此外|考虑到)",
    re.IGNORECASE,
)
"""The beginning of a paragraph that goes on thinking, if the one before it was thinking."""

CONTINUATION = re.compile(
    r"\W*(?:then|now|so|but|i (?:should|need|must|will|can|want)|i['’]ll|i think|let me|let's|"
    r"let’s|in (?:this|the)|the (?:user|scene|context|character|response|reply|tone|setting|prompt|"
    r"conversation|dialogue|story|player|key|next)|my (?:response|reply)|overall|putting|okay|"
    r"alright|we |key|\* |然后|所以|因此|我(?:应该|需要|要|得)|用户|"
    r"考虑|同时|还要|不过|根据|场景|角色)",
    re.IGNORECASE,
)
"""The same, if the paragraph also speaks of the work."""

ABOUT_THE_WORK = re.compile(
    r"\b(?:response|reply|character|scene|dialogue|tone|context|setting|personality|motivation|"
    r"user|prompt|role|in-character|period|voice|narrative|conversation)\b|回复|回应|回答|角色|性格|语气|"
    r"场景|对话|用户|人设|情节|背景",
    re.IGNORECASE,
)

THIRD_PERSON = (
    r"\b(?:play|portray|embody|act as|respond as|reply as|speak as|write as|answer as|voice)"
    r"(?:ing)?\s+(?:the\s+(?:(?:role|part|character)\s+of\s+)?)?(?:{names})\b"
    r"|\b(?:reply|response|dialogue|line|answer)\s+(?:as|for|from)\s+(?:{names})\b"
    r"|\bhow\s+(?:would|should|might|will|could)\s+(?:{names})\s+(?:respond|react|reply|speak|behave|"
    r"answer|phrase|express|approach|handle)\b"
    r"|\bhow\s+(?:{names})\s+(?:would|should|might|will|could)\b"
    r"|\bas\s+(?:{names})\s*,?\s+(?:i|we)\s+(?:need|should|must|will|would)\b"
    r"|\b(?:{names})\s+(?:would|should|might)\s+(?:respond|reply|react|speak)\b"
    r"|扮演(?:{names})|(?:{names})(?:会|应该|可能会)(?:怎么|如何|怎样)"
)
