"""Functions of ``annotate.method``, which only ``compile_graph(rerun=[..])`` calls again.

LEAPP compares the results of such a function with those of its model on inputs that were not
traced. Side effects of the function really happen, so only the user can allow it.
"""

from __future__ import annotations

import copy
import inspect
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from . import _trace
from ._payload import Flat
from .errors import LeappTypeError, LeappValueError
from .semantics import is_ndarray


class _Call:
    """The first traced call of a function, without its tensors."""

    def __init__(self, stage: Any, bound: inspect.BoundArguments, flat: Flat) -> None:
        self._stage, self._signature = stage, bound.signature
        self._input_names = stage.names_in(bound)
        owners = [name for name in bound.arguments if name not in self._input_names]
        #: The instance or class, which the program may release.
        self._owner = {name: _reference(bound.arguments[name]) for name in owners}
        self._ports = [(name, is_ndarray(given)) for name, given, _ in flat.entries]
        self._flat = copy.copy(flat)
        self._flat.entries = []

    def make(self, inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Call the function with these inputs, by the names of their ports."""
        given = [inputs[name].numpy() if array else inputs[name] for name, array in self._ports]
        arguments = {name: owner() for name, owner in self._owner.items()}
        arguments |= zip(self._input_names, self._flat.restore(given), strict=True)
        bound = inspect.BoundArguments(self._signature, arguments)
        result = self._stage.function(*bound.args, **bound.kwargs)
        outputs = self._stage.outputs_of(result)
        return {name: torch.as_tensor(value) for name, value, _ in outputs.entries}


def _reference(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value)
    except TypeError:  # slots
        return lambda: value


_calls: dict[str, _Call] = {}


def forget() -> None:
    """Begin a session."""
    _calls.clear()


def remember(node: str, stage: Any, bound: inspect.BoundArguments, flat: Flat) -> None:
    """Record how a function was called in the first pass of its node."""
    if node not in _calls:
        _calls[node] = _Call(stage, bound, flat)


def checked(names: Any) -> list[str]:
    """Return the names of nodes to call again; raise if one is not a traced function."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise LeappTypeError.of(names, "leapp.compile_graph(rerun=..) takes a list of node names")
    wanted = list(names)
    if unknown := [name for name in wanted if name not in _calls]:
        raise LeappValueError.at_caller(
            "LP003",
            f"leapp.compile_graph(rerun=..) names {unknown[0]!r}, but no traced function of "
            f"annotate.method has that name. Traced: {', '.join(_calls) or 'none'}.",
        )
    return wanted


def call(node: str, inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the results of the node's function for these inputs; nothing if it rejects them."""
    with _trace.Unobserved(), torch.no_grad():
        try:
            return _calls[node].make(inputs)
        except Exception:
            return {}
