"""Patches during a session.

The recorder itself patches nothing. PyTorch and NumPy exchange values beneath it, though: these
patches return arrays that stay traced and report values that leave the graph (``_numpy``,
``_tensor``). Functions of ``torch.compile`` run eagerly during a session, so that the
recorder sees their operators.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import torch

from . import _branches, _numpy, _tensor, _trace
from ._function_patches import replaced, wrapped
from .patching import FunctionPatch

#: Restores everything.
_undo = contextlib.ExitStack()


def install(global_patching: bool, patching: Iterable[FunctionPatch]) -> None:
    """Apply the patches for a new session."""
    _run_compiled_functions_eagerly()
    if global_patching:
        for patches in (_tensor.patches(), _branches.patches(), _numpy.patches()):
            for owner, values in patches:
                _put(owner, values)
        _trace.restore_sequence_slot()
        for patch in patching:
            original = getattr(patch.module, patch.function_name)
            _put(patch.module, {patch.function_name: wrapped(original, _instead(patch))})


def restore() -> None:
    """Restore PyTorch and NumPy; keep changes that others made."""
    _undo.close()
    _trace.restore_sequence_slot()


def _put(owner: Any, values: dict[str, Any]) -> None:
    own = vars(owner)
    _undo.callback(_put_back, owner, {name: own[name] for name in values if name in own}, values)
    if isinstance(owner, ModuleType):
        own.update(values)
        return
    for name, value in values.items():
        setattr(owner, name, value)


def _put_back(owner: Any, former: dict[str, Any], put: dict[str, Any]) -> None:
    own = vars(owner)
    for name in (name for name in put if own.get(name) is put[name]):
        if name in former:
            setattr(owner, name, former[name])
        else:
            delattr(owner, name)


def _run_compiled_functions_eagerly() -> None:
    """Disable the compiler if it is loaded; importing it would take seconds."""
    if "torch._dynamo" in sys.modules:
        _undo.enter_context(torch.compiler.set_stance("force_eager"))
    else:
        _put(*replaced(torch, "compile", _compile_later))


def _compile_later(original: Any, /, *args: Any, **kwargs: Any) -> Any:
    result = original(*args, **kwargs)
    _undo.enter_context(torch.compiler.set_stance("force_eager"))
    return result


def _instead(patch: FunctionPatch) -> Callable[..., Any]:
    """Return a replacement for a function; while it runs, the original is in place."""
    inside = threading.local()

    def patched(original: Any, /, *args: Any, **kwargs: Any) -> Any:
        values = [*args, *kwargs.values()]
        if getattr(inside, "now", False) or not any(map(_numpy.holds_traced, values)):
            return original(*args, **kwargs)
        inside.now = True
        try:
            return patch.replacement(*args, **kwargs)
        finally:
            inside.now = False

    return patched
