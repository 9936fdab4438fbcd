"""Functions of other packages, replaced while a session is tracing."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from . import _trace

#: The module or class that has functions, and what to put there by name.
Patch = tuple[Any, dict[str, Any]]


def replaced(owner: Any, names: str, wrap: Callable[[Any], Any]) -> Patch:
    """Return a patch that puts in the place of functions what wrap() makes of them."""
    originals = {name: getattr(owner, name) for name in names.split()}
    return owner, {name: functools.wraps(old)(wrap(old)) for name, old in originals.items()}


def announced(owner: Any, names: str, announce: Callable[[str], None]) -> Patch:
    """Return a patch that calls announce() with a function's name when a node calls it."""

    def wrap(original: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            if in_node():
                announce(original.__name__)
            return original(*args, **options)

        return call

    return replaced(owner, names, wrap)


def in_node() -> bool:
    """Whether the function that asks is called by the program's code while a node is open."""
    return _trace.any_open() and _trace.is_user_code(sys._getframe(2).f_code)
