"""The annotate calls while a shadow run is on: payloads are shown to it, and go on as they are.

The program goes on with what it has. Whatever is odd about a payload is not said here: then the
bundle is not given the value, and the report says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from . import _trace, _tracing
from ._payload import Flat, flatten, passthrough
from .errors import LeappError

_quietly = contextlib.suppress(LeappError, TypeError)  # an array of texts, say


def untraced(call: str, node: str, payload: Any, static_outputs: Any = None) -> Any:
    """Show what an annotate call was given, and return its values untouched."""
    if not _took_dict(call, node, payload, static_outputs):
        with _quietly:
            flat = flatten(call, node, payload)
            if call == "output_tensors":
                given = {} if static_outputs is None else static_outputs
                put_out(node, flat, flatten(f"{call} static_outputs", node, given))
            else:
                getattr(_trace, call)(node, _entries_of(flat))
    return passthrough(call, node, payload, static_outputs)


def _took_dict(call: str, node: str, payload: Any, static_outputs: Any) -> bool:
    """Whether the compiled module's short way took the payload, a dict of tensors."""
    if call == "input_tensors":
        return _trace.input_dict(node, payload) is not NotImplemented
    if call != "output_tensors" or static_outputs is not None:
        return False
    return _trace.output_dict(node, payload, "") is not NotImplemented


def take_inputs(node: str, flat: Flat) -> None:
    with _quietly:
        _trace.input_tensors(node, _entries_of(flat))


def put_out(node: str, flat: Flat, statics: Flat | None = None) -> None:
    """Hand over outputs, which closes the node."""
    with _quietly:
        _trace.output_tensors(node, _entries_of(flat), _entries_of(statics or Flat()), None, {})


def module(node: str, model: torch.nn.Module, buffer_names: Sequence[str] | None) -> None:
    with _quietly:
        _tracing.module(node, model, buffer_names)


def _entries_of(flat: Flat) -> list[tuple[str, torch.Tensor, None]]:
    return [(name, _tensor_of(value), None) for name, value, _ in flat.entries]


def _tensor_of(value: Any) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else torch.tensor(np.asarray(value))
