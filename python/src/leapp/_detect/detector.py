"""What all detectors have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from .._replacing import Patch

if TYPE_CHECKING:
    from .watch import Watch


class Finding(NamedTuple):
    """Something to say of a node at the end of a session."""

    code: str
    text: str
    where: str = ""  # the line at which the node was opened, if none is given
    settled_by_another_pass: bool = True


class Detector:
    """Finds one kind of thing that takes part in a node unseen. Lives for a session."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def patches(self) -> Iterable[Patch]:
        """Yield what to replace while the session is tracing."""
        return ()

    def opened(self) -> None:
        """A node's first or second pass has begun."""

    def closed(self, node: str, number: int) -> None:
        """A node's first or second pass has ended."""

    def findings(self, node: str) -> Iterable[Finding]:
        """Yield what to say of a node, while the session can still be asked."""
        return ()
