"""The console output of LEAPP: log lines and a progress bar, both on standard error.

The compiled library never prints; it passes its lines to :func:`emit`, which passes all of them to
Python's ``logging``, under the name ``leapp``. The level of that logger, and handlers that write
to the terminal, take precedence: no line is shown twice.
"""

from __future__ import annotations

import logging
import os
import sys
import time

#: Levels of the compiled library.
DEBUG, INFO, WARNING, ERROR = range(4)

_LABELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_COLOURS = ("2", "1;36", "1;33", "91")

#: Seconds of a compilation after which a progress bar is shown.
_PATIENCE_S = 1.0
#: Width of the bar in characters.
_WIDTH = 24

_bar: ProgressBar | None = None

_logger = logging.getLogger("leapp")
_logger.addHandler(logging.NullHandler())  # without a handler, logging itself prints warnings

#: The lowest level that is shown; None until it is set in the compiled library.
_shown: int | None = None


def show(verbose: bool | None = None) -> None:
    """Print all lines of the library, or only warnings and errors; None keeps the setting."""
    global _shown
    if _shown is None:
        from . import _runtime

        _runtime.set_console(emit, DEBUG)
    if _shown is None or verbose is not None:
        _shown = DEBUG if verbose else WARNING


def emit(level: int, message: str) -> None:
    """Log a line, and print it as ``[WARNING]: message``, in colour on a terminal."""
    number = 10 * (level + 1)
    _logger.log(number, "%s", message)
    stream = sys.stderr
    declined = _logger.disabled or number < _logger.level  # set by the program
    if stream is None or level < (_shown or 0) or declined or _is_shown(number):
        return
    if _bar is not None:
        _bar.clear()
    label = _LABELS[level]
    if stream.isatty() and not os.environ.get("NO_COLOR"):
        label, message = (f"\033[{_COLOURS[level]}m{text}\033[0m" for text in (label, message))
    print(f"[{label}]: {message}", file=stream, flush=True)


def note(message: str) -> None:
    """Print an INFO line that was only logged, unless the program disabled it."""
    if sys.stderr is None or _shown == DEBUG or _logger.disabled or _logger.level > logging.INFO:
        return
    if not _is_shown(logging.INFO):
        print(f"[INFO]: {message}", file=sys.stderr, flush=True)


def _is_shown(number: int) -> bool:
    """Return whether a handler of the program writes lines of that level to the terminal."""
    logger: logging.Logger | None = _logger
    if not _logger.isEnabledFor(number):
        return False
    while logger is not None:
        for handler in logger.handlers:
            stream = getattr(handler, "stream", None)
            if number >= handler.level and stream in (sys.stderr, sys.stdout):
                return True
        logger = logger.parent if logger.propagate else None
    return False


class ProgressBar:
    """A bar over the nodes being compiled, shown on a terminal after one second."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = False

    def __enter__(self) -> ProgressBar:
        global _bar
        _bar = self
        return self

    def __exit__(self, *_: object) -> None:
        global _bar
        _bar = None
        self.clear()

    def __call__(self, done: int, total: int, node: str) -> None:
        """Show that ``done`` of ``total`` nodes are ready and ``node`` is next."""
        patient = time.monotonic() - self._started < _PATIENCE_S
        if patient or sys.stderr is None or not sys.stderr.isatty():
            return
        filled = _WIDTH * done // max(total, 1)
        self._write(f"{'█' * filled}{'░' * (_WIDTH - filled)} {done}/{total} {node}")

    def clear(self) -> None:
        """Remove the bar from the terminal if it is shown."""
        if self._shown:
            self._write("")

    def _write(self, line: str) -> None:
        sys.stderr.write(f"\r\033[2K{line}")
        sys.stderr.flush()
        self._shown = line != ""
