"""NumPy while a session is tracing, behind one door: the rest of the package uses these names only.

Arrays over traced memory (``arrays``) and their elements (``number``) record what is computed with
them (``calls``, by ``table``); NumPy's functions on lists of them (``lists``) and what makes arrays
and tensors (``constructors``) are patched, see :func:`patches`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .arrays import (
    Number,
    TracedArray,
    attached,
    holds_traced,
    is_traced,
    kept,
    new_array,
    note_escape,
    reset,
    to_tensor,
    traced_view,
)
from .number import number_of

__all__ = [
    "Number",
    "TracedArray",
    "attached",
    "holds_traced",
    "is_traced",
    "kept",
    "new_array",
    "note_escape",
    "number_of",
    "patches",
    "reset",
    "to_tensor",
    "traced_view",
]


def patches() -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield (owner, what to put there by name) for a session that has begun."""
    from . import constructors, lists

    yield from lists.patches()
    yield from constructors.patches()
