"""Console output: log lines on standard error, and a progress bar on a terminal only."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator
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


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    """Return the library's logger, and restore it afterwards."""
    found = logging.getLogger("leapp")
    handlers = list(found.handlers)
    yield found
    found.handlers[:] = handlers
    found.setLevel(logging.NOTSET)
    found.disabled = False


def test_a_handler_of_the_program_gets_every_line(logger: logging.Logger) -> None:
    lines = io.StringIO()
    logger.addHandler(logging.StreamHandler(lines))
    logger.setLevel(logging.DEBUG)
    _console.emit(_console.DEBUG, "in detail")
    _console.emit(_console.ERROR, "100 % wrong")
    assert lines.getvalue() == "in detail\n100 % wrong\n"


def test_a_handler_on_the_terminal_takes_the_lines_place(
    logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.ERROR)
    logger.addHandler(handler)
    _console.emit(_console.ERROR, "once")
    _console.emit(_console.WARNING, "not its level")
    assert capsys.readouterr().err == "once\n[WARNING]: not its level\n"


def test_the_loggers_level_is_the_consoles(
    logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logger.setLevel(logging.ERROR)
    _console.emit(_console.WARNING, "declined")
    logger.setLevel(logging.NOTSET)
    logger.disabled = True
    _console.emit(_console.ERROR, "declined as well")
    assert capsys.readouterr().err == ""
