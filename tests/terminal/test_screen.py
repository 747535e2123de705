"""Colours, notices and control characters on the screen."""

from __future__ import annotations

from io import StringIO

import pytest

from bot.terminal.screen import FAULT, NAME, Screen, remove_controls


class ColourTerminal(StringIO):
    def isatty(self) -> bool:
        return True


class Closed(StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError


@pytest.fixture(autouse=True)
def a_terminal_with_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


def shown(out: StringIO, environ: dict[str, str] | None = None) -> str:
    Screen(out, environ or {}).line("Mr Bennet", NAME)
    return out.getvalue()


def test_a_terminal_gets_colours_and_a_pipe_gets_text() -> None:
    assert "\x1b[" in shown(ColourTerminal())
    assert shown(StringIO()) == "Mr Bennet\n"


def test_no_color_removes_all_escape_sequences() -> None:
    assert shown(ColourTerminal(), {"NO_COLOR": "1"}) == "Mr Bennet\n"
    assert "\x1b[" in shown(ColourTerminal(), {"NO_COLOR": ""})


def test_control_characters_are_never_written() -> None:
    out = StringIO()
    Screen(out).line("a\x1b]0;owned\x07b\x9b2Jc\x08\x00\u202ed", FAULT)
    assert out.getvalue() == "a]0;ownedb2Jcd\n"
    assert (
        remove_controls("one\r\ntwo\rthree\tfour 🧑‍🚀 Zoë 你好")
        == "one\ntwo\nthree\tfour 🧑‍🚀 Zoë 你好"
    )


def test_markup_and_long_lines_are_not_changed() -> None:
    out = StringIO()
    Screen(out).line("[bold]no[/bold] :smile: " + "word " * 60 + "end")
    assert out.getvalue() == "[bold]no[/bold] :smile: " + "word " * 60 + "end\n"


def test_a_line_starts_in_the_first_column() -> None:
    out = StringIO()
    screen = Screen(out)
    screen.write("half")
    screen.line("whole")
    screen.end_line()
    screen.write("")
    screen.line("next")
    assert out.getvalue() == "half\nwhole\nnext\n"


def test_a_notice_is_temporary_and_never_goes_to_a_pipe() -> None:
    terminal = ColourTerminal()
    pipe = StringIO()
    for out in (terminal, pipe):
        screen = Screen(out, {"NO_COLOR": "1"})
        screen.notice("thinking 你")
        screen.clear_notice()
        screen.line("Well.")
    assert terminal.getvalue() == "thinking 你\r" + " " * 11 + "\rWell.\n"
    assert pipe.getvalue() == "Well.\n"


def test_a_closed_output_is_noticed() -> None:
    screen = Screen(Closed())
    screen.line("Hello?")
    assert screen.gone
