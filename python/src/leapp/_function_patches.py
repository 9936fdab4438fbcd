"""Functions of other packages, replaced while a session is tracing."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _trace

#: A module or class, and the replacements of its functions by name.
Patch = tuple[Any, dict[str, Any]]


def replaced(owner: Any, names: str, instead: Callable[..., Any]) -> Patch:
    """Return a patch with :func:`wrapped` replacements of functions.

    They are created once for all sessions: `instead` does not depend on a session.
    """
    make = _stand_in if owner in (np, np.linalg) else _lasting
    return owner, {name: make(getattr(owner, name), instead) for name in names.split()}


def wrapped(original: Any, instead: Callable[..., Any]) -> Any:
    """Return a function that calls ``instead(original, *arguments)``, two frames deeper."""

    @functools.wraps(original)
    def call(*args: Any, **options: Any) -> Any:
        return instead(original, *args, **options)

    return call


_lasting = functools.cache(wrapped)


class StandIn:
    """A replacement of a function that other packages look up in their tables, by the function.

    It equals the original: numba registers ``np.zeros`` when it is imported and finds it when it
    compiles, whatever the session does in between.
    """

    __slots__ = ("__dict__",)

    def __init__(self, original: Any, instead: Callable[..., Any]) -> None:
        self._original, self._instead = original, instead
        functools.update_wrapper(self, original)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._instead(self._original, *args, **options)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._original

    def __hash__(self) -> int:
        return hash(self._original)


class ReferableStandIn(StandIn):
    """A replacement of a function that supports weak references, which such tables then contain."""

    __slots__ = ("__weakref__",)


@functools.cache
def _stand_in(original: Any, instead: Callable[..., Any]) -> StandIn:
    referable = type(original).__weakrefoffset__ != 0
    return (ReferableStandIn if referable else StandIn)(original, instead)


def in_node() -> bool:
    """Return whether the program's code inside a node calls the replaced function."""
    return _trace.any_open() and _trace.is_user_code(sys._getframe(3).f_code)
