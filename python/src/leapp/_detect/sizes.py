"""Sizes that traced values decided: read as numbers, they become part of the model."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import torch

from .. import _trace
from .._replacing import Patch, replaced
from .detector import Detector


class Sizes(Detector):
    """Tells the session which tensors the program asks for their size."""

    def patches(self) -> Iterable[Patch]:
        """Replace what sizes are read with."""
        shape: Any = torch._C.TensorBase.shape
        yield torch.Tensor, {"shape": property(_noting_size(shape.__get__))}
        yield replaced(torch.Tensor, "__len__ size numel nelement", _noting_size)


def _noting_size(original: Any) -> Any:
    def measure(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if _trace.any_open():
            # What the code does with a size may become part of the model: PyTorch's code counts.
            asking = sys._getframe(1).f_globals.get("__name__", "")
            if not asking.startswith(("leapp.", "torch._numpy")):
                _trace.note_size(self)
        return original(self, *args, **kwargs)

    return measure
