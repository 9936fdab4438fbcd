"""What takes part in a node without any operator showing it, found by detectors in a row.

The compiled session calls in here (``session::FrontEnd``): :func:`opened` and :func:`closed` in the
first and second pass of each node, :func:`keeps` about outputs that depend on no input,
:func:`finish` when it stops. Detectors patch what they watch, compare snapshots of what the program
holds (``_program``), ask what its code does with it (``_source``) and the session what was read
(``_trace``), and say what they found through ``_trace.diagnose``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

from .. import _holders, _names, _trace
from .._replacing import Patch
from . import clocks, counters, random_numbers, replaced, threads
from .watch import Finding, Watch

#: So many sentences of one kind are said of a node; the others are in log.txt.
_MOST_SENTENCES = 5

#: What finds something to say of a node at the end of a session, given what was watched.
_FINDERS = (clocks.findings, counters.findings, replaced.findings, replaced.forgotten)

#: Of the session that is tracing; between sessions, one that has not begun.
_watch = Watch()


def start() -> Iterator[Patch]:
    """Begin to watch a session that has just started; yield what to replace."""
    _watch.begin()
    patches = [threads.patch(), clocks.patch(), *random_numbers.patches()]
    yield from patches
    yield from _watch.program.imports_of(patches)


def rehearse() -> None:
    """Go through what the first pass will, so that it finds everything at hand."""
    _watch.rehearse()


def restore() -> None:
    """Put back what was replaced in the program, and let go of everything."""
    global _watch
    _watch.restore()
    _watch = Watch()
    clocks.forget()
    random_numbers.forget()


def include(*objects: Any) -> None:
    """Say that the next node to open will use these."""
    _watch.expected = objects


def opened(node: str, number: int) -> bool:
    """A pass of a node has begun: its first or second. Return whether to be told when it ends."""
    if number == 1:
        _holders.note_variables()
    _watch.opened(node, number)
    for generator, name in _watch.program.generators:
        random_numbers.follow(generator, name)
    return bool(_watch.program.generators)


def closed(node: str) -> None:
    """A pass of a node that holds generators has ended."""
    random_numbers.drawn(f"while node '{node}' was open")


def keeps(outputs: Iterable[torch.Tensor]) -> bool:
    """Whether each of these outputs comes from something that the program replaces as it goes."""
    return replaced.keeps(_watch, outputs)


def drawn() -> None:
    """Values of NumPy's come into the graph: name the generators they may be of.

    Where those are is known in the passes that are told of.
    """
    if any(_trace.pass_of(node) <= 2 for node in _trace.open_nodes()):
        random_numbers.drawn()


def finish() -> None:
    """Say what only further passes could have decided, at the end of a session."""
    _names.remember_paths(_watch.before.values())
    for node in _watch.before:
        _watch.look_at_running(node)
    for find in _FINDERS:
        for node in _watch.running:
            _say(node, list(find(_watch, node)))


def _say(node: str, findings: list[Finding]) -> None:
    """Say what was found of one kind, and after some of it only how much more there is."""
    opened_at = _trace.opened_at(node) if findings else ""
    for count, (code, text, where, settled) in enumerate(findings):
        if count == _MOST_SENTENCES:
            more = len(findings) - count
            others = "another one" if more == 1 else f"{more} others"
            summary = f"of node '{node}' the same holds for {others}, which log.txt lists."
            _trace.diagnose(code, summary, node, settled, opened_at)
        aloud = count < _MOST_SENTENCES
        _trace.diagnose(code, text, node, settled, where or opened_at, aloud)
