"""A module or function as the only node of its graph, for ``leapp.export``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from . import _holders, _trace, _tracing
from ._method import Stage
from ._numpy import to_tensor
from ._payload import Flat
from .errors import LeappTypeError, LeappValueError
from .semantics import is_array, is_ndarray

#: Positional and named arguments of one call.
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class SingleNode:
    """Runs a function pass by pass, with the states of the previous pass."""

    def __init__(
        self, function: Callable[..., Any], node: str, states: Mapping[str, Any],
        export_with: str, backend_params: dict[str, Any] | None, constants: Any,
    ) -> None:  # fmt: skip
        self._function, self._states = function, dict(states)
        self._stage = Stage(
            _with_signature(function), node, export_with, backend_params, constants, None, []
        )

    def run(self, *args: Any, **kwargs: Any) -> None:
        """Run one pass. The next one begins with the states that it returns."""
        _holders.remember(self._function)
        stage = self._stage
        bound = self.bind(*args, **kwargs)
        for name in self._states:
            del bound.arguments[name]
        stage.set_inputs(bound, _tracing.open_node(stage.node, stage.inputs_of(bound)))
        before = Flat((name, value, None) for name, value in self._states.items())
        if self._states:
            held = _tracing.hand_over("state_tensors", stage.node, before)
            bound.arguments.update(zip(self._states, held, strict=True))
        result = self._function(*bound.args, **bound.kwargs)
        outputs, left = self._parted(result)
        if self._states:
            self._states = dict(zip(self._states, left, strict=True))
            after = Flat((name, value, None) for name, value in self._states.items())
            _tracing.hand_over("update_state", stage.node, after)
        taken = {*self._states, *bound.arguments}
        named = zip(self._output_names(result, len(outputs), taken), outputs, strict=True)
        stage.close(Flat((name, value, None) for name, value in named))

    def bind(self, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        """Return the arguments and states by parameter; raise if the function rejects them."""
        if both := [name for name in self._states if name in kwargs]:
            raise LeappValueError.at_caller(
                "LP003",
                f"leapp.export(): '{both[0]}' is both an example input and a state. Give its first "
                f"value in states= only.",
            )
        try:
            return self._stage.bind(*args, **kwargs, **self._states)
        except TypeError as error:
            raise LeappTypeError.at_caller(
                "LP002",
                f"leapp.export(): the function cannot be called with the example inputs and "
                f"states: {error}.",
            ) from error

    def _parted(self, result: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the outputs and the next states from the function's result."""
        values = result if isinstance(result, tuple) else (result,)
        count = len(values) - len(self._states)
        if count < 1:
            raise LeappValueError.at_caller(
                "LP003",
                f"leapp.export(states=..): the function returned {len(values)} value(s), expected "
                f"its outputs and then the next value of {', '.join(self._states)}.",
            )
        return values[:count], values[count:]

    def _output_names(self, result: Any, count: int, taken: set[str]) -> list[str]:
        """Return the outputs' names: those of variables, unless one is already used."""
        if isinstance(result, Mapping):
            return [""]  # its keys name the outputs
        names = self._stage.output_names(result)[:count]
        return [f"output{i + 1}" if x in taken else x for i, x in enumerate(names)]


def _with_signature(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the object with the signature of a function, for example a module's forward()."""
    described = getattr(function, "forward", function)
    try:
        inspect.signature(described)
    except (TypeError, ValueError):  # compiled code
        return lambda *args: function(*args)
    return described


def arguments_of_passes(given: Any, passes: int) -> list[Arguments]:
    """Return the arguments of each pass."""
    varied = (_varied(given, number) for number in range(passes))
    examples = given if isinstance(given, list) else list(varied)
    if not examples:
        raise LeappValueError.at_caller("LP003", "leapp.export() needs at least one pass.")
    return [_arguments(each) for each in examples]


def _arguments(example: Any) -> Arguments:
    if is_array(example):
        return (example,), {}
    if isinstance(example, tuple):
        return example, {}
    if isinstance(example, Mapping):
        return (), dict(example)
    raise LeappTypeError.of(
        example,
        "leapp.export(example_inputs=..) must be a tensor, a tuple of arguments, a dict of "
        "arguments by name, or a list with one of these for each pass",
    )


def _varied(example: Any, number: int) -> Any:
    """Return the example of a pass: unchanged for the first, with noise for the others."""
    flat = Flat([("", example, None)])
    values: list[Any] = []
    for i, (_, given, _) in enumerate(flat.entries):
        varied = _trace.varied_example(to_tensor(given), number, i)
        values.append(varied.numpy() if is_ndarray(given) else varied)
    return flat.restore(values)[0]
