"""A function and a node that computes it, for the programs of the drop-in tests."""

from __future__ import annotations

from typing import Any

import torch

from leapp import annotate


def affine(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


def stage(x: torch.Tensor, node: str = "n", **options: Any) -> Any:
    """One pass of a node that computes affine(x)."""
    x = annotate.input_tensors(node, {"x": x})
    return annotate.output_tensors(node, {"y": affine(x)}, **options)
