"""Functions of ``annotate.method``, called once more on other inputs, as if nothing had been.

``compile_graph`` asks for it (``session::FrontEnd``): it compares what a function makes of inputs
that were never traced with what its model does. The program must not notice. So everything that the
function can reach is looked through first; where all of it can be put back, it is called, and put
back; else it is not called at all, and log.txt says so.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from typing import Any

import torch

from . import _trace
from ._payload import Flat
from ._reach import Reach
from .semantics import is_ndarray


class _Call:
    """The last call of a node while it was traced, and how to make it again."""

    def __init__(self, stage: Any, bound: inspect.BoundArguments) -> None:
        self.stage, self.bound = stage, bound
        self.inference = torch.is_inference_mode_enabled()
        #: Why it is not to be made; None where nothing is known against it.
        self.refused = "it ran under autocast" if torch.is_autocast_enabled("cpu") else None

    def make(self, inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Call the function with these tensors in the place of those it was given."""
        bound = inspect.BoundArguments(self.bound.signature, self.bound.arguments.copy())
        flat = self.stage.inputs_of(bound)
        tensors = [(inputs[name], given) for name, given, _ in flat.entries]
        values = [each.numpy() if is_ndarray(given) else each for each, given in tensors]
        self.stage.set_inputs(bound, flat.restore(values))
        result = self.stage.function(*bound.args, **bound.kwargs)
        outputs: Flat = self.stage.outputs_of(result)
        return {name: torch.as_tensor(value) for name, value, _ in outputs.entries}


_calls: dict[str, _Call] = {}


def remember(node: str, stage: Any, bound: inspect.BoundArguments) -> None:
    _calls[node] = _Call(stage, bound)


def forget() -> None:
    """Let go of the functions of a former session and what they were given."""
    _calls.clear()


def call(node: str, inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return what the node's function makes of these inputs; nothing where it cannot be asked."""
    found = _calls.get(node)
    if found is None or found.refused is not None:
        return {}
    reach = Reach()
    try:
        reach.follow(found.stage.function)
        for value in found.bound.arguments.values():
            reach.follow(value)
    except Exception as error:  # UnknownReachError, or what a class of the program's raises
        found.refused = str(error)
        text = f"the function of node '{node}' was not called on other inputs: {found.refused}"
        _trace.diagnose("LP948", text, node, aloud=False)
        return {}
    with _trace.Unobserved(), reach.put_back(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such inputs overflow
        try:
            with torch.inference_mode(found.inference):
                return found.make(inputs)
        except Exception:  # the program refuses such inputs
            return {}
