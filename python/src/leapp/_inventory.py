"""The inventory of constants in Python."""

from __future__ import annotations

import dataclasses

from . import _state


@dataclasses.dataclass(frozen=True)
class ExportedWeights:
    """The parameters and buffers of one module that a node exports.

    Attributes:
        module: The path of the outermost module, like ``"env.net"``; may be empty.
        parameters: Number of parameters. buffers: Number of buffers. values: Number of elements of
            all of them.
    """

    module: str
    parameters: int
    buffers: int
    values: int
    _text: str = dataclasses.field(repr=False, compare=False)

    def __str__(self) -> str:
        return self._text


@dataclasses.dataclass(frozen=True)
class ExportedConstant:
    """One tensor, array or number that a node exports as a constant.

    Attributes:
        kind: ``"tensor"`` or ``"number"``.
        path: Its path in the program, such as ``"env.commands"``; empty if no object holds it.
        where: The line that reads it, ``"policy.py:42 in forward"``; may be empty.
        op: The operator that reads it, like ``"aten::cat"``; empty for an output.
        dtype: The element type.
        shape: The shape of a tensor; None for a number.
        min: The smallest element, without NaN. max: The largest element, without NaN.
        has_nan: True if an element is NaN.
        acknowledged: True if ``constants=[..]`` of the node names it.
    """

    kind: str
    path: str
    where: str
    op: str
    dtype: str
    shape: tuple[int, ...] | None
    min: float
    max: float
    has_nan: bool
    acknowledged: bool
    _text: str = dataclasses.field(repr=False, compare=False)

    def __str__(self) -> str:
        return self._text


@dataclasses.dataclass(frozen=True)
class NodeInventory:
    """All constants that one node exports.

    Attributes:
        node: The node's name.
        weights: Parameters and buffers, one entry for each outermost module.
        constants: All other constants, one entry each.
    """

    node: str
    weights: list[ExportedWeights]
    constants: list[ExportedConstant]

    def __str__(self) -> str:
        lines = [str(each) for each in (*self.weights, *self.constants)]
        return "\n  ".join([f"{self.node}:", *lines])


def inventory() -> list[NodeInventory]:
    """Return the constants of each node, as found by the last :func:`compile_graph`."""
    if not _state.loaded():
        return []
    from . import _trace

    return [
        NodeInventory(
            node,
            [ExportedWeights(*each) for each in weights],
            [ExportedConstant(*each) for each in constants],
        )
        for node, weights, constants in _trace.inventory()
    ]


def unacknowledged(most: int = 12) -> list[str]:
    """Return a block of text for each node with unacknowledged constants."""
    blocks = []
    for node in inventory():
        open_ones = [str(each) for each in node.constants if not each.acknowledged]
        if not open_ones:
            continue
        lines = open_ones[:most]
        if len(open_ones) > most:
            lines.append(f"and {len(open_ones) - most} more, see leapp.inventory()")
        blocks.append("\n  ".join([f"constants of node '{node.node}':", *lines]))
    return blocks
