"""Fixed phrases of a very small model's replies, in several languages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of one language.

    `intends` follows the character's name. `thoughts` begin a thought. An action is one of
    `actions`, with one of `manners` directly after it or without.
    """

    intends: str
    thoughts: tuple[str, ...]
    actions: tuple[str, ...]
    manners: tuple[str, ...]
    has_spaces: bool = True


_PHRASES = {
    "en": Phrases(
        "wants to",
        ("I want", "I hope", "I wonder", "I must", "I know", "I feel"),
        (
            *("smiles", "nods", "looks up", "laughs softly", "leans closer"),
            *("raises an eyebrow", "sighs", "pauses"),
        ),
        (
            *(" for a moment", " and turns away", " and glances at the door"),
            *(" and thinks it over", " without a word"),
        ),
    ),
    "de": Phrases(
        "möchte",
        ("Ich möchte", "Ich hoffe", "Ich frage mich", "Ich muss", "Ich weiß", "Ich fühle"),
        ("lächelt", "nickt", "blickt auf", "lacht leise", "seufzt", "hält inne"),
        (" einen Moment", " und wendet sich ab", " und blickt zur Tür", " ohne ein Wort"),
    ),
    "fr": Phrases(
        "veut",
        ("Je veux", "J'espère", "Je me demande", "Je dois", "Je sais", "Je sens"),
        ("sourit", "hoche la tête", "lève les yeux", "rit doucement", "soupire", "hésite"),
        (" un instant", " et se détourne", " et regarde la porte", " sans un mot"),
    ),
    "es": Phrases(
        "quiere",
        ("Quiero", "Espero", "Me pregunto", "Debo", "Sé", "Siento"),
        ("sonríe", "asiente", "levanta la vista", "ríe en voz baja", "suspira", "hace una pausa"),
        (" un momento", " y se aparta", " y mira hacia la puerta", " sin decir palabra"),
    ),
    "zh": Phrases(
        "想",
        ("我想", "我希望", "我不知道", "我必须", "我知道", "我觉得"),
        ("微笑", "点头", "抬起头", "轻声笑了", "叹了口气", "停顿了一下"),
        ("，转过身去", "，看了看门口", "，想了想", "，一言不发"),
        has_spaces=False,
    ),
}


def find_phrases(language: str) -> Phrases | None:
    """Return the phrases of a language tag such as `en` or `zh-Hans`, if there are any."""
    return _PHRASES.get(language.casefold().replace("_", "-").partition("-")[0])
