"""What is printed: log lines on standard error, and a progress bar on a terminal only."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

from leapp import _console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_lines_name_their_level(capsys: pytest.CaptureFixture[str]) -> None:
    _console.emit(_console.WARNING, "mind the gap")
    shown = capsys.readouterr()
    assert shown.err == "[WARNING]: mind the gap\n"
    assert shown.out == ""


def test_lines_are_coloured_on_a_terminal() -> None:
    with redirect_stderr(Terminal()) as terminal:
        _console.emit(_console.ERROR, "off the rails")
    assert "\033[" in terminal.getvalue()


def test_colour_can_be_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with redirect_stderr(Terminal()) as terminal:
        _console.emit(_console.ERROR, "off the rails")
    assert terminal.getvalue() == "[ERROR]: off the rails\n"


def test_quick_compilations_show_no_bar() -> None:
    with redirect_stderr(Terminal()) as terminal, _console.ProgressBar() as progress:
        progress(0, 2, "policy")
    assert terminal.getvalue() == ""


def test_bar_names_the_node_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_console, "_PATIENCE_S", 0.0)
    with redirect_stderr(Terminal()) as terminal, _console.ProgressBar() as progress:
        progress(1, 4, "policy")
        assert terminal.getvalue().endswith("1/4 policy")
        _console.emit(_console.WARNING, "a line")
        assert "\033[2K[" in terminal.getvalue()
        progress(2, 4, "next")
    assert terminal.getvalue().endswith("\r\033[2K")


def test_no_bar_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_console, "_PATIENCE_S", 0.0)
    with _console.ProgressBar() as progress:
        progress(1, 4, "policy")
    assert capsys.readouterr().err == ""
