"""The annotate calls without a session: they check a payload's form and return it.

Annotations stay in production code, so common forms take a fast path. ``_tracing`` and
``_shadowing`` have the same functions.
"""

from __future__ import annotations

import functools
from typing import Any

from ._payload import check, named_values
from .semantics import TensorSemantics

#: Types whose values may be or contain a TensorSemantics.
_NESTING = (dict, list, tuple, TensorSemantics)

#: Types seen so far that are not of these.
_leaf_types: set[type] = set()


def declare(call: str, node: str, payload: Any, static_outputs: Any = None, *_: Any) -> Any:
    """Return the arguments of ``annotate.<call>(node, payload)`` unchanged."""
    if static_outputs is not None:
        check("output_tensors static_outputs", node, static_outputs)
    kind = type(payload)
    if kind is dict:
        for value in payload.values():
            if type(value) not in _leaf_types:
                if issubclass(type(value), _NESTING):
                    check(call, node, payload)
                    break
                _leaf_types.add(type(value))
        if len(payload) == 1:
            for value in payload.values():
                return value
        return tuple(payload.values())
    if kind is TensorSemantics:
        return payload.ref
    if kind is list and len(payload) == 1 and type(payload[0]) is TensorSemantics:
        return payload[0].ref
    values = tuple(value for _, value, _ in named_values(call, node, payload))
    return values[0] if len(values) == 1 else values


input_tensors = functools.partial(declare, "input_tensors")
output_tensors = functools.partial(declare, "output_tensors")


def module(*_: Any) -> None:
    """Do nothing: no session is active."""


mirror_leapp_tags = abandon = module
