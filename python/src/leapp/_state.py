"""The compiled tracing module, loaded at the first use of tracing.

Every annotate call checks if a session is tracing. Until the compiled module is loaded, the check
is a plain Python function, so annotations cost almost nothing, and ``import leapp`` needs no
PyTorch. The compiled module stores all data of sessions and nodes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from . import _untraced
from .errors import LeappImportError


def _inactive() -> bool:
    return False


#: Returns True if a session is tracing.
is_active: Callable[[], bool] = _inactive

#: The implementation of the annotate calls: the module ``_untraced``, ``_tracing`` during a
#: session, or ``_shadowing`` during a shadow run.
calls: Any = _untraced


def loaded() -> bool:
    """Return whether the compiled module is loaded, that is, whether tracing was ever used."""
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
    trace.prepare()  # early, because loading it takes as long as everything else
    is_active = trace.is_active


def _check_build(torch: str) -> None:
    """Refuse a different minor version of PyTorch, for which the code was not compiled."""
    try:
        built_for: str = importlib.import_module("leapp._built_for").TORCH
    except ModuleNotFoundError:
        raise LeappImportError.coded(
            "LP971",
            "Tracing is not installed. This environment has only leapp-runtime, which runs "
            "bundles. Also install the wheel of leapp (docs/howto/install.md).",
        ) from None
    if built_for.split(".")[:2] != torch.split(".")[:2]:
        minor = ".".join(built_for.split(".")[:2])
        raise LeappImportError.coded(
            "LP972",
            f"This build of leapp is for PyTorch {minor}, but {torch} is installed. Install "
            f"'torch=={minor}.*', or build LEAPP for the installed PyTorch "
            "(docs/howto/install.md): 'pip install --no-build-isolation ./python/runtime .'. The "
            "package leapp on PyPI is a different program.",
        )
