"""The types of beats."""

from __future__ import annotations

import pytest

from bot.her.beats import (
    BeatKind,
    PrivateBeat,
    PublicBeat,
    action,
    planning,
    select_private,
    select_public,
    speech,
    thought,
)


def test_the_type_of_a_beat_says_who_may_see_it() -> None:
    beats = (planning("x"), speech("Sir."), thought("y"), action("bows"))
    assert select_public(beats) == (speech("Sir."), action("bows"))
    assert select_private(beats) == (planning("x"), thought("y"))
    with pytest.raises(ValueError, match="public"):
        PublicBeat(BeatKind.THOUGHT, "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="private"):
        PrivateBeat(BeatKind.SPEECH, "x")  # type: ignore[arg-type]
