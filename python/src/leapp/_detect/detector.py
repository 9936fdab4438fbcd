"""What all detectors have in common."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _trace

if TYPE_CHECKING:
    from .watch import Watch


class Finding(NamedTuple):
    """Something to say of a node at the end of a session."""

    code: str
    text: str
    where: str = ""  # the line at which the node was opened, if none is given
    settled_by_another_pass: bool = True


#: (owner, what to put there by name)
Patch = tuple[Any, dict[str, Any]]


class Detector:
    """Finds one kind of thing that takes part in a node unseen. Lives for a session."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def patches(self) -> Iterable[Patch]:
        """Yield what to replace while the session is tracing."""
        return ()

    def opened(self, node: str, number: int) -> None:
        """A node's first or second pass has begun."""

    def closed(self, node: str, number: int) -> None:
        """A node's first or second pass has ended."""

    def finish(self) -> Iterator[tuple[str, Iterable[Finding]]]:
        """Yield (node, what to say of it), while the session can still be asked."""
        yield from ()


def in_node(depth: int = 2) -> bool:
    """Whether a patched function is called by the program's code while a node is open."""
    return _trace.any_open() and _trace.is_user_code(sys._getframe(depth).f_code)


def wrapped(owner: Any, names: Iterable[str], wrap: Callable[[Any], Any]) -> Patch:
    """Return a patch that puts around functions what wrap() makes of them."""
    made = {}
    for name in names:
        original = getattr(owner, name)
        made[name] = functools.wraps(original)(wrap(original))
    return owner, made


def before_call(act: Callable[[str], None]) -> Callable[[Any], Any]:
    """Return a wrap() that calls act() with the function's name when the program calls it."""

    def wrap(original: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            if in_node():
                act(original.__name__)
            return original(*args, **options)

        return call

    return wrap
