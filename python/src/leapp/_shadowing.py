"""The annotate calls while a shadow run is on: payloads in, nothing out.

The program goes on with what it has. Whatever is odd about a payload is not said here: then the
bundle is not given the value, and the report says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from . import _trace, _tracing
from ._payload import Flat, flatten
from .errors import LeappError


def input_tensors(node: str, tensors: Any) -> None:
    """Open a node, or add inputs to an open one."""
    if _trace.input_dict(node, tensors) is NotImplemented:
        with _quietly():
            take_inputs(node, flatten("input_tensors", node, tensors))


def take_inputs(node: str, flat: Flat) -> None:
    """Hand over inputs."""
    with _quietly():
        _trace.input_tensors(node, _entries_of(flat))


def output_tensors(node: str, tensors: Any, static_outputs: Any) -> None:
    """Hand over outputs, which closes the node."""
    if static_outputs is None and _trace.output_dict(node, tensors, "") is not NotImplemented:
        return
    with _quietly():
        statics = Flat()
        if static_outputs is not None:
            statics = flatten("output_tensors static_outputs", node, static_outputs)
        put_out(node, flatten("output_tensors", node, tensors), statics)


def put_out(node: str, flat: Flat, statics: Flat | None = None) -> None:
    """Hand over outputs."""
    with _quietly():
        constants = [] if statics is None else _entries_of(statics)
        _trace.output_tensors(node, _entries_of(flat), constants, None, {})


def state_tensors(node: str, tensors: Any) -> None:
    """Show the value of states at the start of a pass."""
    with _quietly():
        _trace.state_tensors(node, _entries_of(flatten("state_tensors", node, tensors, flat=True)))


def update_state(node: str, tensors: Any) -> None:
    """Show what states are for the next pass."""
    with _quietly():
        _trace.update_state(node, _entries_of(flatten("update_state", node, tensors, flat=True)))


def register_buffer(node: str, tensors: Any) -> None:
    """Show persistent tensors."""
    with _quietly():
        _trace.register_buffer(node, _entries_of(flatten("register_buffer", node, tensors)))


def module(node: str, model: torch.nn.Module, buffer_names: Sequence[str] | None) -> None:
    """Show a module's buffers."""
    with _quietly():
        _tracing.module(node, model, buffer_names)


def abandon(node: str) -> None:
    """Drop the pass that a node is in."""
    _trace.abandon(node)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    with contextlib.suppress(LeappError, TypeError):  # an array of texts, say
        yield


def _entries_of(flat: Flat) -> list[tuple[str, torch.Tensor, None]]:
    return [(name, _tensor_of(value), None) for name, value, _ in flat.entries]


def _tensor_of(value: Any) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else torch.tensor(np.asarray(value))
