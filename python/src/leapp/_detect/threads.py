"""Tensors that another thread computed: what operators do there is not seen."""

from __future__ import annotations

import concurrent.futures
from typing import Any

import torch

from .. import _trace
from .._replacing import Patch, replaced
from .._snapshot import leaves_of


def patch() -> Patch:
    """Return what looks at the results that futures hand over while a node is open."""
    return replaced(concurrent.futures.Future, "result", _looking_at_result)


def _looking_at_result(original: Any, self: Any, *args: Any, **options: Any) -> Any:
    found = original(self, *args, **options)
    given = leaves_of(found) if _trace.any_open() else []
    if any(isinstance(leaf, torch.Tensor) and not _trace.is_traced(leaf) for leaf in given):
        _trace.diagnose(
            "LP215",
            "a tensor comes from another thread while a node is open. What operators do there "
            "is not seen: the value is exported as a constant. Compute it in the thread that "
            "traces, or pass it through annotate.input_tensors().",
        )
    return found
