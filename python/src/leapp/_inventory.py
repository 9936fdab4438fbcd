"""The inventory of constants, as Python sees it."""

from __future__ import annotations

import dataclasses

from . import _state


@dataclasses.dataclass(frozen=True)
class ExportedWeights:
    """The parameters and buffers of one module that a node exports.

    Attributes:
        module: The path of the outermost module, like ``"env.net"``; may be empty.
        parameters: How many parameters.
        buffers: How many buffers.
        values: How many elements all of them have.
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
        path: How the program reaches it, like ``"env.commands"``; empty if no object holds it.
        where: The line that reads it, ``"policy.py:42 in forward"``; may be empty.
        op: The operator that reads it, like ``"aten::cat"``; empty for an output.
        dtype: The element type.
        shape: The shape of a tensor; None for a number.
        min: The smallest element, NaN left out.
        max: The largest element, NaN left out.
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
    """Everything that one node exports as a constant.

    Attributes:
        node: The node's name.
        weights: Parameters and buffers, one entry for each outermost module.
        constants: Everything else, one entry each.
    """

    node: str
    weights: list[ExportedWeights]
    constants: list[ExportedConstant]

    def __str__(self) -> str:
        lines = [str(each) for each in (*self.weights, *self.constants)]
        return "\n  ".join([f"{self.node}:", *lines])


def inventory() -> list[NodeInventory]:
    """Return what each node exports as a constant, by the last :func:`compile_graph`."""
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
