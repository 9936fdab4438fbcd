"""Whether a session is tracing, asked on every annotate call.

Until the compiled module is loaded the answer is a plain Python function: annotations cost next to
nothing then, and ``import leapp`` needs no PyTorch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from .errors import LeappImportError


def _inactive() -> bool:
    return False


#: Whether a session is tracing now.
is_active: Callable[[], bool] = _inactive

#: The compiled module's short ways for a dict of tensors; they are there when a session is.
input_dict: Callable[..., Any]
output_dict: Callable[..., Any]

#: Names of the nodes whose pass is under way.
open_nodes: set[str] = set()


def _ignore(node: str, *objects: Any) -> None:
    pass


#: Called when a pass of a node begins, with objects it will use, and when one ends.
opened: Callable[..., None] = _ignore
closed: Callable[[str], None] = _ignore
#: Called with the values that a node's annotations name.
declared: Callable[..., None] = _ignore


def _is_none(values: Iterable[Any]) -> bool:
    return False


#: Asked whether outputs that depend on no input may depend on what the program keeps.
may_be_state: Callable[[Iterable[Any]], bool] = _is_none

#: Nodes of which nobody wants to be told any more.
settled: set[str] = set()

#: Names of the annotated functions that are running now, innermost last.
executing: list[str] = []

_trace: ModuleType | None = None


def watch(
    on_open: Callable[..., None] = _ignore,
    on_close: Callable[[str], None] = _ignore,
    on_declare: Callable[..., None] = _ignore,
    on_doubt: Callable[[Iterable[Any]], bool] = _is_none,
) -> None:
    """Ask to be told of passes, or no longer."""
    global opened, closed, declared, may_be_state
    opened, closed, declared, may_be_state = on_open, on_close, on_declare, on_doubt
    settled.clear()


def is_not_traced(error: Exception) -> bool:
    """Whether an error says that an output depends on no input."""
    return "non-traced tensors" in str(error)


def open_node(node: str, *objects: Any) -> None:
    """Note that a node takes inputs."""
    if node not in open_nodes:
        open_nodes.add(node)
        opened(node, *objects)


def close_node(node: str) -> None:
    """Note that a node has its outputs."""
    closed(node)
    open_nodes.discard(node)


def loaded() -> bool:
    """Whether the compiled module is loaded, that is, whether tracing was ever asked for."""
    return _trace is not None


def load() -> None:
    """Load PyTorch and the compiled tracing module; a second call does nothing."""
    global _trace, is_active, input_dict, output_dict
    if _trace is not None:
        return
    try:
        importlib.import_module("torch")
    except ImportError as error:
        raise LeappImportError(
            "Tracing needs PyTorch, which could not be imported. Install it with "
            "'pip install torch'; running exported bundles with InferenceManager works without it."
        ) from error
    try:
        _trace = importlib.import_module("leapp._trace")
    except ImportError as error:
        raise LeappImportError(
            f"LEAPP's tracing module could not be loaded: {error}. It is built against one version "
            f"of PyTorch; reinstall leapp in this environment."
        ) from error
    from .inference_manager import find_onnxruntime

    find_onnxruntime()  # validation runs ONNX models
    is_active = _trace.is_active
    input_dict, output_dict = _trace.input_dict, _trace.output_dict
