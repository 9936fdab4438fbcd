"""Shadow runs: a bundle next to its program."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Literal

from . import _console, _state, _untraced
from .errors import LeappValueError, expect, expect_one_of


@dataclasses.dataclass(frozen=True)
class ShadowDifference:
    """The first difference between program and bundle.

    Attributes:
        port: The port of the node.
        tick: The tick of the node in this run, counted from 1.
        where: The program's line, ``"policy.py:42 in forward"``; may be empty.
        text: What happened and what to do.
        comparison: Every figure, as in ``validation.json``: ``source`` is the program's value,
            ``exported`` the bundle's.
    """

    port: str
    tick: int
    where: str
    text: str
    comparison: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class ShadowNode:
    """Results of a shadow run for one node.

    Attributes:
        node: Its name.
        ticks: Passes that the program completed.
        compared: Number of compared passes.
        differing: Number of passes with a difference.
        unjudged: Passes after a difference, not compared because of the node's state.
        abandoned: Passes that were started but not completed.
        resets: Number of resets of its state.
        not_compared: Reason why nothing was compared; empty otherwise.
        first: The first difference.
    """

    node: str
    ticks: int
    compared: int
    differing: int
    unjudged: int
    abandoned: int
    resets: int
    not_compared: str
    first: ShadowDifference | None


@dataclasses.dataclass(frozen=True)
class ShadowReport:
    """Results of a shadow run. ``str()`` returns them as text.

    Attributes:
        passed: Every node was compared, and none differed.
        nodes: The nodes of the bundle, by name.
        unknown: Nodes of the program that are missing in the bundle.
    """

    passed: bool
    nodes: dict[str, ShadowNode]
    unknown: list[str]
    _text: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        return self._text


class ShadowRun:
    """A shadow run; use it as a context manager. Made by :func:`leapp.shadow`."""

    def __init__(
        self, bundle: str, rtol: float, atol: float, trust_code: bool, outside_files: bool
    ) -> None:
        """Store the options; the run starts when it is entered."""
        self._arguments = (bundle, rtol, atol, trust_code, outside_files)
        self._run: Any = None

    def __enter__(self) -> ShadowRun:
        """Load the bundle and begin."""
        _state.load()
        from . import _shadowing, _trace

        _console.show()
        self._run = _trace.Shadow(*self._arguments)
        _state.calls = _shadowing
        return self

    def __exit__(self, *_: object) -> None:
        """End the run, and log its report."""
        _state.calls = _untraced
        self._run.stop()
        _console.emit(_console.INFO, f"Shadow run of {self._arguments[0]}:\n{self.report()}")

    def reset(self) -> None:
        """Report that the program has reset its state, as for a new episode.

        After the first call, the run no longer looks for resets by itself.
        """
        self._running().reset()

    def report(self) -> ShadowReport:
        """Return the results so far."""
        data, text = self._running().report()
        found = json.loads(data)
        for node in found["nodes"]:
            node["first"] = node["first"] and ShadowDifference(**node["first"])
        nodes = {node["node"]: ShadowNode(**node) for node in found["nodes"]}
        return ShadowReport(found["passed"], nodes, found["unknown"], text)

    def _running(self) -> Any:
        if self._run is None:
            raise LeappValueError.at_caller(
                "LP946", "the shadow run has not started. Write 'with leapp.shadow(..) as run:'."
            )
        return self._run


def shadow(
    bundle: str | os.PathLike[str],
    *,
    rtol: float = 1e-3,
    atol: float = 1e-5,
    trust: Literal["code"] | None = None,
    allow_outside_files: bool = False,
) -> ShadowRun:
    """Run a bundle next to the annotated program, and compare every output.

        with leapp.shadow("walker/walker.yaml") as run:
            episode()
        print(run.report())

    The program runs unchanged, outside any tracing session, for as long as it needs. Values that it
    passes to ``annotate`` are also inputs of the bundle's models, which keep their own state, as on
    the robot. The first difference of each node is a warning with node, port, tick, error and the
    program's line.

    Args:
        bundle: The ``.yaml`` file that ``compile_graph`` wrote.
        rtol: Relative tolerance of the comparison.
        atol: Absolute tolerance of the comparison.
        trust: ``"code"`` allows models that contain executable code; see ``InferenceManager``.
        allow_outside_files: Allow model files outside the bundle's directory.
    """
    expect((str, os.PathLike), bundle, "leapp.shadow() takes the path of a bundle's .yaml file")
    expect_one_of(("code", None), trust, "trust")
    return ShadowRun(os.fspath(bundle), rtol, atol, trust == "code", allow_outside_files)
