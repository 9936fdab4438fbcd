"""Payloads of ``annotate``: checked, flattened to named tensors, and restored.

A payload is a dict of named tensors (possibly nested), one ``TensorSemantics``, or a list of them.
Flattening returns the entries for the compiled module; ``Flat.restore`` returns the values in the
original nested containers.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .errors import LeappError, LeappTypeError, LeappValueError
from .semantics import TensorSemantics, is_array

#: kind, element names per dimension, period of the time axis, additional keys.
Meaning = tuple[str | None, list[Any] | None, float | None, dict[str, Any] | None]

#: One named value of a payload, for the compiled module after its conversion to a tensor.
Entry = tuple[str, Any, Meaning | None]

#: Calls that refuse nested values and values other than tensors.
_FLAT = ("state_tensors", "update_state")


class _Slot(int):
    """Placeholder in a template for the value of the entry with that index."""


class Flat:
    """A flattened payload.

    Attributes:
        entries: The named tensors and arrays, in order.
        constants: The leaves that are neither, as (name, value); they are passed through unchanged.
    """

    __slots__ = ("_templates", "constants", "entries")

    def __init__(self, values: Iterable[Entry]) -> None:
        """Flatten values under their names. A value with semantics is an array."""
        self.entries: list[Entry] = []
        self.constants: list[tuple[str, Any]] = []
        self._templates = [
            _mapped(functools.partial(self._take, meaning), value, name)
            for name, value, meaning in values
        ]

    def restore(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the original values, in order, with the entries replaced by ``values``."""

        def put(_: str, leaf: Any) -> Any:
            return values[leaf] if type(leaf) is _Slot else leaf

        return tuple(_mapped(put, each) for each in self._templates)

    def _take(self, meaning: Meaning | None, name: str, leaf: Any) -> Any:
        leaf = getattr(leaf, "_array", leaf) if type(leaf).__name__ == "Number" else leaf
        if is_array(leaf):
            self.entries.append((name, leaf, meaning))
            return _Slot(len(self.entries) - 1)
        self.constants.append((name, leaf))
        return leaf


def _joined(name: str, key: object) -> str:
    """Return the name of an item; an empty name adds no prefix."""
    return f"{name}_{key}" if name else str(key)


def flatten(call: str, node: str, payload: Any) -> Flat:
    """Flatten a payload of the call ``annotate.<call>(node, payload)``."""
    named = named_values(call, node, payload)
    return Flat((name, value, _meaning(item) if item else None) for name, value, item in named)


def named_values(
    call: str, node: str, payload: Any
) -> list[tuple[str, Any, TensorSemantics | None]]:
    """Return the values of a payload, each with its name and its semantics."""
    check(call, node, payload)
    if isinstance(payload, Mapping):
        return [(str(name), value, None) for name, value in payload.items()]
    items = [payload] if isinstance(payload, TensorSemantics) else payload
    return [(item.name, item.ref, item) for item in items]


def check(call: str, node: str, payload: Any) -> None:
    """Raise unless the call supports the form of the payload."""
    if isinstance(payload, TensorSemantics):
        return
    what = f"{call}() for node '{node}'"
    if isinstance(payload, Mapping):
        for name, value in payload.items():
            if call in _FLAT and not is_array(value):
                raise _refused(
                    f"{what} does not support nested state structures: state '{name}' is of type "
                    f"{type(value).__name__}, expected a tensor. Name every state tensor on its "
                    f"own."
                )
            _refuse_semantics(what, str(name), value)
    elif isinstance(payload, (list, tuple)) and TensorSemantics in set(map(type, payload)):
        _check_semantics(what, payload)
    elif is_array(payload):
        raise _refused(
            f"{what} does not accept a bare tensor: a port needs a name. Pass {{'name': tensor}}, "
            f"a TensorSemantics or a list of TensorSemantics."
        )
    else:
        inside = type(payload[0]).__name__ if isinstance(payload, (list, tuple)) and payload else ""
        raise _refused(
            f"{what} expects either a dict of named tensors or a TensorSemantics or list of "
            f"TensorSemantics, got {type(payload).__name__}{inside and ' of ' + inside}. Pass "
            f"{{'name': tensor}}: every port needs a name."
        )


def _refused(text: str) -> LeappTypeError:
    return LeappTypeError.at_caller("LP120", text)


def _check_semantics(what: str, items: Sequence[Any]) -> None:
    """Refuse a list with other types than TensorSemantics, or with a duplicate name."""
    if others := {type(x).__name__ for x in items if not isinstance(x, TensorSemantics)}:
        raise _refused(
            f"{what}: All items must be TensorSemantics if one is, found "
            f"{', '.join(sorted(others))} as well. Wrap those tensors too, or pass a dict of "
            f"named tensors."
        )
    names = [item.name for item in items]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise LeappValueError.at_caller(
            "LP120",
            f"{what}: Duplicate TensorSemantics names {', '.join(map(repr, repeated))}. Give each "
            f"its own name.",
        )


def _refuse_semantics(what: str, name: str, value: Any) -> None:
    """Refuse a TensorSemantics inside a dict, at any depth."""
    if isinstance(value, TensorSemantics):
        raise _refused(
            f"{what}: '{name}' is a TensorSemantics inside a dict. It carries its own name: pass "
            f"it alone or in a list of TensorSemantics."
        )
    if isinstance(value, (dict, list, tuple)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _refuse_semantics(what, _joined(name, key), item)


def _meaning(item: TensorSemantics) -> Meaning:
    """Return the data of a TensorSemantics for the compiled module."""
    kind: Any = getattr(item.kind, "value", item.kind)
    extra = {**item.contract(), **(item.extra or {})} or None
    return (kind, item.element_names, item.temporal_period_ms, extra)


def _mapped(change: Callable[[str, Any], Any], value: Any, name: str = "") -> Any:
    """Return ``change(name, leaf)`` of every leaf, in containers of the same form."""
    if isinstance(value, dict):
        result = {} if type(value) is dict else copy.copy(value)
        for key, item in value.items():
            result[key] = _mapped(change, item, _joined(name, key))
        return result
    if isinstance(value, (list, tuple)):
        items = [_mapped(change, item, _joined(name, i)) for i, item in enumerate(value)]
        return _like_sequence(value, items)
    return change(name, value)


def _like_sequence(like: Sequence[Any], items: list[Any]) -> Any:
    """Return a list or tuple of the class of ``like``; named tuples keep their fields."""
    if hasattr(like, "_fields"):
        return type(like)(*items)
    try:
        return type(like)(items)  # type: ignore[call-arg]
    except Exception as error:
        raise LeappError.at_caller(
            "LP120",
            f"LEAPP cannot rebuild a {type(like).__name__} around traced tensors ({error}). Pass "
            f"its tensors in a plain list, tuple or dict.",
        ) from error
