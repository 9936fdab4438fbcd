"""A function as one node: the implementation of ``annotate.method`` during tracing."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _holders, _rerun, _trace, _tracing
from ._payload import Flat
from ._shadowing import quietly
from ._source import shown_returns
from .errors import LeappError, LeappTypeError
from .semantics import is_array

#: Prefix for the names of arguments that a parameter collects, as in nested payloads.
_PREFIXES: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "arg",
    inspect.Parameter.VAR_KEYWORD: "",
}


@dataclasses.dataclass(eq=False)
class Stage:
    """Calls a function with traced inputs and passes its results on."""

    function: Callable[..., Any]
    node: str
    export_with: str | None
    backend_params: dict[str, Any] | None
    constants: Sequence[Any] | None
    schedule: Mapping[str, Any] | None
    #: Keywords that annotate.method() does not know.
    unknown: list[str]

    def __post_init__(self) -> None:
        """Inspect the function's signature and source."""
        self._fault = _fault_of(self.function)
        self._signature = inspect.signature(self.function)
        self._returns = shown_returns(self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run one pass of the node. After an exception, the session is as before the call."""
        if not _trace.is_active():
            return self._beside(*args, **kwargs)
        if self._fault:
            raise LeappTypeError.at_caller(
                "LP002", f"annotate.method() cannot trace the {self._fault}"
            )
        bound = self.bind(*args, **kwargs)
        if self.unknown:
            code = getattr(self.function, "__code__", None)
            _trace.diagnose(
                "LP222",
                f"annotate.method() of node '{self.node}' does not know "
                f"{', '.join(f'{name}=' for name in self.unknown)}, so they have no effect.",
                self.node,
                where=f"{code.co_filename}:{code.co_firstlineno}" if code else "",
            )
        flat = self.inputs_of(bound)
        _rerun.remember(self.node, self, bound, flat)
        self.set_inputs(bound, _tracing.open_node(self.node, flat))
        _trace.enter_function(self.node)
        try:
            self._keep_defaults(bound)
            return self._close(self.function(*bound.args, **bound.kwargs))
        except BaseException:
            _trace.abandon(self.node)
            raise
        finally:
            _trace.leave_function(self.node)

    def bind(self, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        """Return the arguments by the function's parameters."""
        return self._signature.bind(*args, **kwargs)

    def _beside(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function unchanged, and show its inputs and outputs to a shadow run."""
        if self._fault:
            return self.function(
                *args, **kwargs
            )  # a function that cannot be a node is in no bundle
        with quietly:
            flat = self.inputs_of(self.bind(*args, **kwargs))
            _tracing.open_node(self.node, flat)
        try:
            result = self.function(*args, **kwargs)
        except BaseException:
            _trace.abandon(self.node)
            raise
        with quietly:
            self._close(result)
        return result

    def inputs_of(self, bound: inspect.BoundArguments) -> Flat:
        """Return the arguments under the names of their ports."""
        names, kinds, given = self.names_in(bound), self._signature.parameters, bound.arguments
        return Flat((_PREFIXES.get(kinds[name].kind, name), given[name], None) for name in names)

    def set_inputs(self, bound: inspect.BoundArguments, given: Sequence[Any]) -> None:
        """Replace the arguments by other values, in the order of :meth:`inputs_of`."""
        bound.arguments.update(zip(self.names_in(bound), given, strict=True))

    def outputs_of(self, result: Any) -> Flat:
        """Return the function's results under the names of its ports."""
        outputs = result if isinstance(result, tuple) else (result,)
        names = self.output_names(result)
        return Flat((name, value, None) for name, value in zip(names, outputs, strict=True))

    def _keep_defaults(self, bound: inspect.BoundArguments) -> None:
        """Make the default tensors of missing arguments constants of the node."""
        for name, parameter in self._signature.parameters.items():
            if name not in bound.arguments and is_array(parameter.default):
                default = {name: parameter.default}
                bound.arguments[name] = _tracing.declare("register_buffer", self.node, default)

    def names_in(self, bound: inspect.BoundArguments) -> list[str]:
        """Return the given arguments, without the instance or class."""
        names, given = list(bound.arguments), bound.arguments
        if names and (names[0] in ("self", "cls") or self._is_bound_to(given[names[0]])):
            _holders.remember(given[names.pop(0)])
        return names

    def _is_bound_to(self, value: Any) -> bool:
        """Return whether the function is a method of that object or class, under any name."""
        kinds = (value if isinstance(value, type) else type(value)).__mro__
        owner = self.function.__module__, _name_of(self.function).rpartition(".")[0]
        return any((kind.__module__, kind.__qualname__) == owner for kind in kinds)

    def _close(self, result: Any) -> Any:
        """Name the function's results and close the node."""
        if result is None:
            raise LeappError.at_caller(
                "LP113",
                f"The annotated function '{_name_of(self.function)}' returned None, but a node "
                f"needs outputs: return the tensors it computes.",
            )
        values = self.close(self.outputs_of(result))
        if not isinstance(result, tuple):
            return values[0]
        return type(result)(*values) if hasattr(result, "_fields") else values

    def close(self, outputs: Flat) -> tuple[Any, ...]:
        """Close the node with these outputs, and return them."""
        return _tracing.close_node(
            self.node, outputs, [], self.export_with, self.backend_params, self.constants,
            self.schedule,
        )  # fmt: skip

    def output_names(self, result: Any) -> list[str]:
        """Return the names of the function's results: its variables, if its source shows them."""
        count = len(result) if isinstance(result, tuple) else None
        fields = [None] if count is None else getattr(result, "_fields", [None] * count)
        names: list[str] = []
        for i, name in enumerate(self._returns.get(count, fields)):
            unused = name is not None and name not in names
            names.append(name if unused else f"output{i + 1}")
        return names


def _name_of(function: Callable[..., Any]) -> str:
    """Return the qualified name of a function, or of the type of another callable object."""
    name: str = getattr(function, "__qualname__", type(function).__qualname__)
    return name


def _fault_of(function: Callable[..., Any]) -> str:
    """Return why a function cannot run in one tick; empty if it can."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return (
            f"async function '{function.__qualname__}'. A node runs from inputs to outputs "
            f"without waiting. Decorate the synchronous part."
        )
    if inspect.isgeneratorfunction(function):
        return (
            f"generator '{function.__qualname__}'. A node returns once. Decorate the function "
            f"that computes one item."
        )
    return ""
