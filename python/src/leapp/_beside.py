"""What enters and leaves a node beside PyTorch: the time, other threads' values, pickles."""

from __future__ import annotations

import concurrent.futures
import datetime
import functools
import time
from collections.abc import Callable
from typing import Any

import torch

from . import _state, _surroundings, _trace
from ._numpy import note_escape
from ._reachable import leaves_of

CLOCKS = ("monotonic", "perf_counter", "process_time", "time", "time_ns")


@functools.cache
def clock(original: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function of ``time`` that remembers where it is called inside a node."""

    @functools.wraps(original)
    def read() -> Any:
        if _state.open_nodes and _surroundings.called_by_user():
            _surroundings.suspect(f"time.{original.__name__}() is read")
        return original()

    return read


def patches() -> dict[Any, dict[str, Any]]:
    """Return what to replace, by module or class."""
    return {
        time: {name: clock(getattr(time, name)) for name in CLOCKS},
        datetime: {"datetime": WatchedDatetime},
        concurrent.futures.Future: {"result": _result(concurrent.futures.Future.result)},
        torch.Tensor: {"__reduce_ex__": _reduce(torch.Tensor.__reduce_ex__)},
    }


#: The class itself, which cannot be changed.
plain_datetime = datetime.datetime


class _LikeDatetime(type(plain_datetime)):  # type: ignore[misc]
    """Lets a class make, and be taken for, Python's own datetime."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return plain_datetime(*args, **options)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, plain_datetime)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, plain_datetime)


class WatchedDatetime(plain_datetime, metaclass=_LikeDatetime):
    """Python's datetime, remembering where the time is read inside a node."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """Return the present time."""
        if _state.open_nodes and _surroundings.called_by_user():
            _surroundings.suspect("datetime.now() is read")
        return plain_datetime.now(tz)

    @classmethod
    def utcnow(cls) -> Any:
        """Return the present time in UTC."""
        if _state.open_nodes and _surroundings.called_by_user():
            _surroundings.suspect("datetime.utcnow() is read")
        return plain_datetime.utcnow()

    @classmethod
    def today(cls) -> Any:
        """Return the present time."""
        if _state.open_nodes and _surroundings.called_by_user():
            _surroundings.suspect("datetime.today() is read")
        return plain_datetime.today()


@functools.cache
def _result(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def result(self: Any, *args: Any, **options: Any) -> Any:
        found = original(self, *args, **options)
        if _state.open_nodes and any(_is_strange(leaf) for leaf in leaves_of(found)):
            _surroundings.warn_once(
                "a tensor comes from another thread while a node is open. What operators do there "
                "is not seen: the value is exported as a constant. Compute it in the thread that "
                "traces, or pass it through annotate.input_tensors()."
            )
        return found

    return result


@functools.cache
def _reduce(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def reduce(self: torch.Tensor, protocol: Any) -> Any:
        if _state.open_nodes:
            note_escape(self, "Pickling")
        return original(self, protocol)

    return reduce


def _is_strange(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not _trace.is_traced(value)
