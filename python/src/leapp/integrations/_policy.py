"""Shared code of the integrations: a policy as a function of inputs and state, and its export."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import leapp
from leapp import annotate

if TYPE_CHECKING:
    import torch

    Tensors = Mapping[str, torch.Tensor]

#: Passes that are traced: with the state of the first tick, with the state that it returned, and
#: once more, which shows if the first tick differs.
PASSES = 3

_NODE = "policy"


@dataclasses.dataclass
class Policy:
    """One tick of a policy, deterministic and for one robot.

    Attributes:
        step: Computes outputs and the next states from inputs and states, all of them by name.
        sample: Returns random inputs, different ones in each call, with the exported shapes.
        states: The states after a reset; empty for a policy without memory.
    """

    step: Callable[[Tensors, Tensors], tuple[Tensors, Tensors]]
    sample: Callable[[], Tensors]
    states: Tensors = dataclasses.field(default_factory=dict)


def export(
    policy: Policy,
    path: str | os.PathLike[str],
    backend: str = "onnx",
    frequency: float | None = None,
    verbose: bool = False,
) -> str:
    """Trace the policy as one node, write the bundle and return the path of its YAML file.

    Args:
        policy: The policy.
        path: The bundle's directory; its last part names the graph.
        backend: ``"onnx"`` or ``"jit"``.
        frequency: Rate of the policy in Hz, if it is known.
        verbose: Show the whole log on the console.
    """
    import torch
    from torch.distributions import Distribution

    # Distributions check whether their parameters are finite or positive. This does not affect an
    # action, but would be reported as a branch on traced values.
    with having(Distribution, "_validate_args", False), torch.no_grad():
        policy.step(policy.sample(), policy.states)  # a policy that cannot run leaves no files
        with traced(path, verbose) as yaml:
            states = dict(policy.states)
            for _ in range(PASSES):
                states = _trace_pass(policy, states, backend)
    leapp.compile_graph(graph_configs=leapp.GraphConfigs(frequency=frequency))
    return yaml


@contextlib.contextmanager
def traced(path: str | os.PathLike[str], verbose: bool) -> Iterator[str]:
    """Trace the block; yield the future path of the bundle's YAML file."""
    # The path as start() resolves it, also if the program changes its working directory.
    folder = os.path.abspath(os.path.expanduser(os.fspath(path)))
    with leapp.trace(folder, verbose=verbose, max_cached_io=PASSES):
        yield os.path.join(folder, f"{os.path.basename(folder)}.yaml")


def _trace_pass(policy: Policy, states: Any, backend: str) -> Any:
    """Run one tick as a pass of the node; return the next states."""
    inputs = dict(policy.sample())
    inputs = _named(inputs, annotate.input_tensors(_NODE, inputs))
    if states:
        states = _named(states, annotate.state_tensors(_NODE, states))
    outputs, left = policy.step(inputs, states)
    if states:
        annotate.update_state(_NODE, dict(left))
    annotate.output_tensors(_NODE, dict(outputs), export_with=backend)
    return {name: tensor.clone() for name, tensor in left.items()}


def _named(names: Any, values: Any) -> dict[str, Any]:
    """Undo the unpacking of annotations: a bare value for one entry, a tuple for more."""
    return dict(zip(names, values if len(names) > 1 else [values], strict=True))


@contextlib.contextmanager
def having(thing: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute of an object or class while the block runs."""
    own = vars(thing)
    had, before = name in own, own.get(name)
    setattr(thing, name, value)
    try:
        yield
    finally:
        if had:
            setattr(thing, name, before)
        else:
            delattr(thing, name)


def frozen(module: torch.nn.Module) -> Any:
    """Return a copy on the CPU in evaluation mode; the user's own policy is unchanged."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Detaching(TorchFunctionMode):
        """Copies tensors that training left in a module, such as its last distribution."""

        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if function is torch.Tensor.__deepcopy__ and not args[0].is_leaf:
                return copy.deepcopy(args[0].detach(), args[1])
            return function(*args, **(kwargs or {}))

    with Detaching():
        copied = copy.deepcopy(module)
    return copied.to("cpu").eval().requires_grad_(False)
