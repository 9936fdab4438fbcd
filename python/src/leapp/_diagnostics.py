"""Warnings and remarks about the traced program, as data."""

from __future__ import annotations

import dataclasses

from . import _state


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A warning or remark about the program.

    Attributes:
        code: A code such as ``"LP214"``; docs/reference/diagnostics.md has a section for each.
        level: ``"WARNING"``, ``"ERROR"``, ..
        where: The line of the program, ``"policy.py:42 in forward"``; may be empty.
        node: The node; may be empty.
        text: What happened and what to do.
        settled_by_another_pass: True if tracing another pass of the node would confirm or remove
            it.
    """

    code: str
    level: str
    where: str
    node: str
    text: str
    settled_by_another_pass: bool


def diagnostics() -> list[Diagnostic]:
    """Return all diagnostics since the last :func:`start`, most harmful first."""
    if not _state.loaded():
        return []
    from . import _trace

    return [Diagnostic(*each) for each in _trace.diagnostics()]
