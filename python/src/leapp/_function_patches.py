"""Functions of other packages, replaced while a session is tracing."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from . import _trace

#: A module or class, and the replacements of its functions by name.
Patch = tuple[Any, dict[str, Any]]


def replaced(owner: Any, names: str, instead: Callable[..., Any]) -> Patch:
    """Return a patch with :func:`wrapped` replacements of functions.

    They are created once for all sessions: `instead` does not depend on a session.
    """
    return owner, {name: _lasting(getattr(owner, name), instead) for name in names.split()}


def wrapped(original: Any, instead: Callable[..., Any]) -> Any:
    """Return a function that calls ``instead(original, *arguments)``, two frames deeper."""

    @functools.wraps(original)
    def call(*args: Any, **options: Any) -> Any:
        return instead(original, *args, **options)

    return call


_lasting = functools.cache(wrapped)


def in_node() -> bool:
    """Return whether the program's code inside a node calls the replaced function."""
    return _trace.any_open() and _trace.is_user_code(sys._getframe(3).f_code)
