"""The compiled tracing module, loaded when tracing is first asked for.

Whether a session is tracing is asked on every annotate call. Until the compiled module is loaded
the answer is a plain Python function: annotations cost next to nothing then, and ``import leapp``
needs no PyTorch. All that is known of sessions and nodes is kept in the compiled module.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from . import _untraced
from .errors import LeappImportError


def _inactive() -> bool:
    return False


#: Whether a session is tracing now.
is_active: Callable[[], bool] = _inactive

#: What annotate calls do now: the module ``_untraced``, ``_tracing`` while a session is tracing, or
#: ``_shadowing`` while a shadow run is on.
calls: Any = _untraced


def loaded() -> bool:
    """Return whether the compiled module is loaded, that is, whether tracing was ever asked for."""
    return is_active is not _inactive


def load() -> None:
    """Load PyTorch and the compiled tracing module; a second call does nothing."""
    global is_active
    if loaded():
        return
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise LeappImportError.coded(
            "LP006",
            "Tracing needs PyTorch, which could not be imported. Install it with "
            "'pip install torch'; running exported bundles with InferenceManager works without it.",
        ) from error
    _check_build(torch.__version__)
    try:
        trace = importlib.import_module("leapp._trace")
    except ImportError as error:
        raise LeappImportError.coded(
            "LP006",
            f"LEAPP's tracing module could not be loaded: {error}. "
            f"Reinstall leapp in this environment.",
        ) from error
    from .inference_manager import find_onnxruntime

    find_onnxruntime()  # validation runs ONNX models
    trace.prepare()  # early: loading it takes as long as the rest
    is_active = trace.is_active


def _check_build(torch: str) -> None:
    """Refuse a PyTorch of another minor version: compiled code breaks there in any way it likes."""
    try:
        built_for: str = importlib.import_module("leapp._built_for").TORCH
    except ModuleNotFoundError:
        raise LeappImportError.coded(
            "LP971",
            "Tracing is not installed: this environment has leapp-runtime alone, which runs "
            "bundles. Install the wheel of leapp as well (docs/howto/install.md).",
        ) from None
    if built_for.split(".")[:2] != torch.split(".")[:2]:
        minor = ".".join(built_for.split(".")[:2])
        raise LeappImportError.coded(
            "LP972",
            f"This build of leapp is for PyTorch {minor}, and {torch} is installed. Install "
            f"'torch=={minor}.*', or build LEAPP's source for the PyTorch that is there "
            f"(docs/install.md): 'pip install --no-build-isolation ./python/runtime .'. The leapp "
            f"of a package index is another program.",
        )
