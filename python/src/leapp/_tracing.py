"""The annotate calls during tracing: they convert payloads for the compiled module and back."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
import torch

from . import _generators, _holders, _schedule, _trace
from ._numpy import foreign, kept, to_tensor, traced_view
from ._payload import Flat, Meaning, flatten
from .errors import LeappError, LeappTypeError, LeappValueError, expect
from .semantics import is_array, is_ndarray

_Entries = list[tuple[str, torch.Tensor, Meaning | None]]


def input_tensors(node: str, tensors: Any) -> Any:
    values = _trace.input_dict(node, tensors)
    if values is not NotImplemented:
        _generators.begin(node)
        return values
    return _bare(open_node(_checked(node), flatten("input_tensors", node, tensors)))


def open_node(node: str, flat: Flat) -> tuple[Any, ...]:
    """Pass the inputs to the session; return the tensors to compute with, one value for each."""
    entries = _entries_of("input", node, flat)
    values = _trace.input_tensors(node, entries)
    _generators.begin(node)
    return _restored(flat, values)


def output_tensors(
    node: str,
    tensors: Any,
    static_outputs: Any,
    export_with: str | None,
    backend_params: dict[str, Any] | None,
    constants: Sequence[Any] | None = None,
    schedule: Mapping[str, Any] | None = None,
) -> Any:
    plain = static_outputs is None and backend_params is None
    if plain and constants is None and schedule is None:
        values = _trace.output_dict(node, tensors, export_with)
        if values is not NotImplemented:
            _generators.end(node)
            return values
    flat = flatten("output_tensors", _checked(node), tensors)
    given = {} if static_outputs is None else static_outputs
    statics = flatten("output_tensors static_outputs", node, given)
    static = _entries_of("static output", node, statics)
    return _bare(close_node(node, flat, static, export_with, backend_params, constants, schedule))


def close_node(
    node: str,
    flat: Flat,
    static: _Entries,
    export_with: str | None,
    backend_params: dict[str, Any] | None,
    constants: Sequence[Any] | None = None,
    schedule: Mapping[str, Any] | None = None,
) -> tuple[Any, ...]:
    """Pass the outputs to the session and return them, one value for each."""
    name = f"export_with of node '{node}' must be the name of a backend or None"
    expect((str, NoneType), export_with, name)
    expect((dict, NoneType), backend_params, f"backend_params of node '{node}' must be a dict")
    entries = _entries_of("output", node, flat)
    for (_, value, _), (_, tensor, _) in zip(flat.entries, entries, strict=True):
        if type(value) is np.ndarray:
            foreign.check(value, tensor)
    known = _acknowledged(node, constants)
    entry = None if schedule is None else _schedule.entry_of(node, schedule, "schedule=")
    values = _trace.output_tensors(
        node, entries, static, export_with, backend_params or {}, known, entry
    )
    _generators.end(node)
    return _restored(flat, values, as_given=True)


def _acknowledged(node: str, constants: Any) -> list[str | torch.Tensor]:
    """Return the constants that the user acknowledges: paths unchanged, arrays as tensors."""
    given = [] if constants is None else constants
    given = [given] if isinstance(given, str) or is_array(given) else list(given)
    for each in given:
        if not isinstance(each, str) and not is_array(each):
            raise LeappTypeError.of(
                each, f"constants of node '{node}' are paths like 'env.pose', tensors or arrays"
            )
    return [each if isinstance(each, str) else to_tensor(each) for each in given]


def declare(call: str, node: str, tensors: Any) -> Any:
    """Declare state or persistent tensors, or set the next values of states."""
    return _bare(hand_over(call, node, flatten(call, _checked(node), tensors)))


def hand_over(call: str, node: str, flat: Flat) -> tuple[Any, ...]:
    """Declare state, or set its next value; return the tensors to compute with, in order."""
    if call == "register_buffer":
        for _, value, _ in flat.entries:
            if type(value) is np.ndarray:
                kept(value)  # so that every pass declares the same memory
    values = getattr(_trace, call)(node, _entries_of("buffer", node, flat))
    return _restored(flat, values, as_given=call == "update_state")


def module(node: str, model: torch.nn.Module, buffer_names: Sequence[str] | None) -> None:
    """Track a module's buffers. The module is read again when the node is closed."""
    paths = _paths_of_buffers(_checked(node), model, buffer_names)
    _holders.remember(model)

    def current() -> list[torch.Tensor]:
        return [_read_buffer(node, model, path) for path in paths]

    # A compiled module has its buffers under the name of the inner module.
    names = [path.replace("_orig_mod.", "").replace(".", "_") for path in paths]
    entries: _Entries = [(*pair, None) for pair in zip(names, current(), strict=True)]
    _trace.module(node, entries, current)


def abandon(node: str) -> None:
    _trace.abandon(_checked(node))


def mirror_leapp_tags(source: Any, target: Any) -> None:
    """Declare that two tensors, or containers of tensors, contain the same data."""
    for role, value in (("source", source), ("target", target)):
        if not is_array(value) and not isinstance(value, (Mapping, list, tuple)):
            raise LeappTypeError.of(value, f"mirror_leapp_tags() expects tensors as {role}")
    for each, copy in _pairs(source, target):
        if type(copy) is np.ndarray:
            copy = kept(copy)  # the memory must be known before the next node receives it
        _trace.mirror_leapp_tags(to_tensor(each), to_tensor(copy))


def _pairs(source: Any, target: Any) -> list[tuple[Any, Any]]:
    """Return the tensors at the same positions of two containers with the same form."""
    if is_array(source) and is_array(target):
        return [(source, target)]
    both = (source, target)
    if all(isinstance(each, Mapping) for each in both) and source.keys() == target.keys():
        return [pair for key in source for pair in _pairs(source[key], target[key])]
    if all(isinstance(each, (list, tuple)) for each in both) and len(source) == len(target):
        return [pair for items in zip(*both, strict=True) for pair in _pairs(*items)]
    if type(source) is type(target) and source == target:  # for example a number among the tensors
        return []
    raise LeappValueError.at_caller(
        "LP116",
        f"mirror_leapp_tags(): source and target do not match: {type(source).__name__} and "
        f"{type(target).__name__} at the same place, or different keys or lengths.",
    )


def _entries_of(what: str, node: str, flat: Flat) -> _Entries:
    """Return the payload's entries, with every array as a tensor over the same memory.

    Warns once about each leaf that is not a tensor; not in a shadow run.
    """
    for name, value in flat.constants if _trace.is_active() else ():
        _trace.diagnose(
            "LP213",
            f"{what} '{name}' of node '{node}' is of type {type(value).__name__}, not a tensor. "
            "It is passed through as a constant.",
            node,
        )
    return [(name, _tensor_of(name, value), meaning) for name, value, meaning in flat.entries]


def _tensor_of(name: str, value: Any) -> torch.Tensor:
    """Return a tensor over the array's memory; raise if tensors do not support its elements."""
    try:
        return to_tensor(value)
    except TypeError as error:
        raise LeappTypeError.at_caller(
            "LP002",
            f"port '{name}' is an array of {value.dtype}, which cannot be converted to a tensor: "
            f"{error}",
        ) from error


def _restored(flat: Flat, tensors: Sequence[Any], *, as_given: bool = False) -> tuple[Any, ...]:
    """Return the payload with these tensors; arrays become traced arrays or stay as given."""
    values = list(tensors)
    for i, (_, given, _) in enumerate(flat.entries):
        if is_ndarray(given):
            values[i] = given if as_given else traced_view(values[i])
    return flat.restore(values)


def _bare(values: tuple[Any, ...]) -> Any:
    """Return a single value bare, several values unchanged."""
    return values[0] if len(values) == 1 else values


def _checked(node: str) -> str:
    expect(str, node, "A node's name must be a string")
    return node


def _paths_of_buffers(
    node: str, model: torch.nn.Module, buffer_names: Sequence[str] | None
) -> list[str]:
    """Return the paths of the buffers to track."""
    known = dict(model.named_buffers(remove_duplicate=buffer_names is None))
    if buffer_names is None:
        return list(known)
    paths = [buffer_names] if isinstance(buffer_names, str) else list(buffer_names)
    if unknown := [path for path in paths if path not in known]:
        raise LeappValueError.at_caller(
            "LP003",
            f"module() for node '{node}': {type(model).__name__} has no registered buffer "
            f"{', '.join(map(repr, unknown))}. Its buffers are "
            f"{', '.join(map(repr, known)) or 'none'}; plain attributes become buffers with "
            f"self.register_buffer().",
        )
    return paths


def _member_of(owner: Any, name: str) -> Any:
    """Return a buffer or submodule, without running a ``__getattr__`` of the program."""
    if isinstance(owner, torch.jit.ScriptModule):
        return getattr(owner, name, None)
    own = object.__getattribute__(owner, "__dict__")
    tables = [own.get("_buffers"), own.get("_modules"), own]
    return next((table[name] for table in tables if table and name in table), None)


def _read_buffer(node: str, model: torch.nn.Module, path: str) -> torch.Tensor:
    *parents, attribute = path.split(".")
    owner = functools.reduce(_member_of, parents, model)
    value = _member_of(owner, attribute)
    if not isinstance(value, torch.Tensor):
        raise LeappError.at_caller(
            "LP007",
            f"Buffer '{attribute}' of {type(owner).__name__}, tracked by node '{node}', is "
            f"{type(value).__name__} now; it was a tensor when module() was called.",
        )
    return value
