"""Signals that arrive during tracing, or while LEAPP must not be interrupted in a step."""

from __future__ import annotations

import contextlib
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self


class Deferred:
    """Calls the program's signal handlers between steps instead of inside them.

    Python raises KeyboardInterrupt in the code that runs when Ctrl+C arrives. In LEAPP that may be
    the line that restores a patch, or the trial of a model, which would then count as failed.
    Within this context signals are only recorded; :meth:`deliver` calls their handlers, and so does
    the end of the block. Only the main thread runs handlers: in others this does nothing.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._arrived: dict[int, FrameType | None] = {}

    def __enter__(self) -> Self:
        self._install()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._restore()
        finally:
            self._call()

    def deliver(self) -> None:
        """Call the handlers of the signals that have arrived; exceptions propagate."""
        if self._arrived:
            self._restore()
            self._call()
            self._install()  # not if a handler raised: the block ends then

    def _install(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        try:
            for number in signal.valid_signals():
                if callable(handler := signal.getsignal(number)):
                    self._handlers[number] = handler
                    signal.signal(number, self._arrived.__setitem__)
        except BaseException:  # a signal that arrived in between
            self._restore()
            raise

    def _restore(self) -> None:
        try:
            while self._handlers:
                number = next(iter(self._handlers))
                signal.signal(number, self._handlers[number])
                del self._handlers[number]
        except BaseException:  # signal whose handler has been restored
            self._restore()
            raise

    def _call(self) -> None:
        """Call every handler, also if one raises."""
        with contextlib.ExitStack() as calls:
            while self._arrived:
                number, frame = self._arrived.popitem()
                handler = signal.getsignal(number)
                if callable(handler):
                    calls.callback(handler, number, frame)


class Watched:
    """Notices that a signal interrupts the program: its handler raises, as that of Ctrl+C does.

    The program's own handler runs first. If it raises, `interrupted` runs before the exception
    reaches the program. Only the main thread can watch signals: in others this does nothing.
    """

    _SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, interrupted: Callable[[], None]) -> None:
        self._interrupted = interrupted
        self._former: dict[int, Any] = {}

    def begin(self) -> None:
        """Begin to watch."""
        if self._former or threading.current_thread() is not threading.main_thread():
            return
        for number in self._SIGNALS:
            if callable(handler := signal.getsignal(number)):
                self._former[number] = handler
                signal.signal(number, self._handle)

    def end(self) -> None:
        """Restore the program's handlers, except where it has installed others."""
        if threading.current_thread() is not threading.main_thread():
            return
        while self._former:
            number, handler = self._former.popitem()
            if signal.getsignal(number) == self._handle:
                signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        try:
            self._former[number](number, frame)
        except BaseException:
            self._interrupted()
            raise
