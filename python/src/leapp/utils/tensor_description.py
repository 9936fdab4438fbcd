"""Semantics of tensors, under the name that NVIDIA's ``leapp`` gives this module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..enums import InputKindEnum, OutputKindEnum
from ..errors import LeappValueError
from ..semantics import GraphConfigs, TemporalAxis, TensorSemantics

if TYPE_CHECKING:
    import torch

__all__ = [
    "GraphConfigs",
    "InputKindEnum",
    "OutputKindEnum",
    "TemporalAxis",
    "TensorSemantics",
    "map_to_torch_dtype",
]


def map_to_torch_dtype(name: str) -> torch.dtype:
    """Return the type for a port's ``dtype``, such as ``"float32"``."""
    import torch

    dtype = getattr(torch, str(name), None)
    if not isinstance(dtype, torch.dtype):
        raise LeappValueError.at_caller("LP003", f"{name!r} is not an element type of PyTorch.")
    return dtype
