"""One call from a module or function to a validated bundle."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, Literal, SupportsIndex

from . import _session, _state
from .errors import LeappError, LeappTypeError, LeappValueError, expect

#: The names of the options that export() passes on.
_OPTIONS = tuple(inspect.signature(_session.compile_graph).parameters)


def export(
    function: Callable[..., Any],
    example_inputs: Any,
    path: str | os.PathLike[str],
    *,
    export_with: str = "onnx",
    states: Mapping[str, Any] | None = None,
    passes: int = 3,
    backend_params: dict[str, Any] | None = None,
    constants: Any = None,
    verbose: bool = False,
    noise: Literal["port", "zero", "frozen", "model"] = "port",
    **options: Any,
) -> str:
    """Export one module or function as a bundle of one node, and validate it.

    ::

        leapp.export(policy, torch.zeros(1, 48), "walker")
        leapp.export(lstm, {"x": torch.zeros(1, 1, 8)}, "memory", states={"hx": (h, c)})

    The function runs once for each pass, without gradients, and is not changed: call ``eval()`` of
    a module first if it has dropout. State that it keeps in its own tensors is found, as in any
    trace.

    Args:
        function: A module, or a function of tensors that returns a tensor, a tuple or a dict.
        example_inputs: One example, or a list with one for each pass: a tensor, a tuple of
            positional arguments, or a dict of arguments by name. The first pass uses a single
            example unchanged; the others add noise to its floating-point tensors.
        path: The bundle's directory; its last part names the graph and the node.
        export_with: The backend.
        states: Recurrent state, by argument name, with its initial values, which may be tuples. The
            function returns the next values after its outputs, in the same order.
        passes: Number of passes for a single example.
        backend_params: Settings of the backend.
        constants: As for ``annotate.output_tensors()``.
        verbose: Show debug and info lines on the console.
        noise: The form of random draws, as for :func:`leapp.start`.
        **options: Keywords of :func:`compile_graph`.

    Returns:
        The path of the bundle's YAML file.
    """
    if _state.is_active():
        raise LeappError.at_caller(
            "LP102", "leapp.export() starts its own session. Call leapp.stop() first."
        )
    target = _target(path)
    expect(Callable, function, "leapp.export() expects a module or function")
    expect((Mapping, NoneType), states, "leapp.export(states=..) must be a dict by argument name")
    expect(SupportsIndex, passes, "leapp.export(passes=..) must be a whole number")
    for option in options:
        if option not in _OPTIONS:
            raise LeappTypeError.at_caller(
                "LP002",
                f"leapp.export() has no option '{option}'. The options of compile_graph() are "
                f"{', '.join(_OPTIONS)}.",
            )
    _state.load()
    import torch

    from ._single_node import SingleNode, arguments_of_passes

    node = os.path.basename(target)
    arguments = arguments_of_passes(example_inputs, passes)
    single = SingleNode(function, node, states or {}, export_with, backend_params, constants)
    for positional, named in arguments:
        single.bind(*positional, **named)
    session = _session.trace(target, verbose=verbose, max_cached_io=len(arguments), noise=noise)
    with torch.no_grad(), session:
        for positional, named in arguments:
            single.run(*positional, **named)
    _session.compile_graph(**options)
    return os.path.join(target, f"{node}.yaml")


def _target(path: Any) -> str:
    """Return the absolute path of the bundle's directory."""
    expect((str, os.PathLike), path, "leapp.export(path=..) must be a path")
    given = os.path.expanduser(os.fspath(path)).rstrip("/")
    if os.path.basename(given) in ("", ".", ".."):
        raise LeappValueError.at_caller(
            "LP003",
            f"leapp.export(path={os.fspath(path)!r}) contains no usable name. Its last part names "
            f"the graph and the node, as in 'out/walker'.",
        )
    absolute: str = os.path.abspath(given)
    return absolute
