"""Sizes that traced values decided: read as numbers, they become part of the model."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import torch

from .. import _trace
from .detector import Detector, Patch, wrapped

_PLAIN_SHAPE: Any = torch._C.TensorBase.shape


class Sizes(Detector):
    """Tells the session which tensors the program asks for their size."""

    def patches(self) -> Iterable[Patch]:
        """Replace what sizes are read with."""
        yield torch.Tensor, {"shape": property(_shape)}
        yield wrapped(torch.Tensor, ("__len__", "size", "numel", "nelement"), _noting_size)


def _shape(tensor: torch.Tensor) -> Any:
    if _trace.any_open() and _is_programs(sys._getframe(1)):
        _trace.note_size(tensor)
    return _PLAIN_SHAPE.__get__(tensor)


def _noting_size(original: Any) -> Any:
    def measure(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if _trace.any_open() and _is_programs(sys._getframe(1)):
            _trace.note_size(self)
        return original(self, *args, **kwargs)

    return measure


def _is_programs(frame: Any) -> bool:
    """Whether what the code does with a size may become part of the model: PyTorch's counts."""
    return not frame.f_globals.get("__name__", "").startswith(("leapp.", "torch._numpy"))
