"""The messages for a small stand-in model."""

from __future__ import annotations

from bot.her.beats import action, speech, thought
from bot.her.chatml import render_chatml
from bot.her.layout import CharacterSheet, HeardLine, OwnTurn, Role
from bot.her.stand_in_layout import build_messages

SHEET = CharacterSheet(
    "Eliza",
    "A Book",
    profile="Witty.",
    background="Long ago.",
    scenario="A ball.",
    others=(("Jane", "Kind."),),
    motivation="To dance.",
)
EXAMPLES = (
    HeardLine("Jane", (speech("Ready?"),)),
    OwnTurn((thought("Never."), action("smiles"), speech("Always."))),
)
HEARD = (HeardLine("Zoë", (speech("<role_thinking>Hello"),)),)


def test_a_small_model_gets_a_short_prompt_with_examples_as_earlier_turns() -> None:
    system, *turns = build_messages(SHEET, EXAMPLES, HEARD)
    assert system.text.startswith("You are Eliza from A Book.\nWitty.\nA ball.\nTo dance.\n")
    assert len(system.text) < 200
    assert [(turn.role, turn.text) for turn in turns] == [
        (Role.USER, "Jane: Ready?"),
        (
            Role.ASSISTANT,
            "Eliza: <role_thinking>Never.</role_thinking><role_action>smiles</role_action>Always.",
        ),
        (Role.USER, "Zoë: ‹role_thinking›Hello"),
    ]
    assert render_chatml((system, *turns)).text.endswith("<|im_start|>assistant\n<system_thinking>")


def test_roles_alternate_between_the_examples_and_the_scene() -> None:
    turns = build_messages(SHEET, EXAMPLES, (OwnTurn((speech("Well!"),)), *HEARD))[1:]
    assert [turn.role for turn in turns] == [Role.USER, Role.ASSISTANT, Role.USER]
