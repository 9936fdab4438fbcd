"""Runs ``torch.cond`` and other higher-order operators while a session is tracing.

They receive functions, and select their kernel by the active dispatch keys, which include the
recorder's key. Without that key they run their functions eagerly, so the recorder sees each
operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree

from . import _trace
from ._function_patches import Patch, replaced
from ._tensor import unobserved
from .errors import LeappError


def patches() -> Iterator[Patch]:
    yield replaced(torch._ops, "_compute_keyset", unobserved)
    yield replaced(type(torch.ops.higher_order.cond), "__call__", _choose_in_graph)


def _choose_in_graph(
    choose: Any, self: Any, pred: Any, yes: Any, no: Any, operands: Any = ()
) -> Any:
    """Run both branches, which have no side effects, and let the model select a result."""
    if not isinstance(pred, torch.Tensor) or not _trace.is_traced(pred):
        return choose(self, pred, yes, no, operands)

    def versions() -> list[int]:
        return [leaf._version for leaf in _pytree.tree_leaves(operands) if not leaf.is_inference()]

    before = versions()
    results = yes(*operands), no(*operands)
    if versions() != before:
        raise LeappError.at_caller(
            "LP501",
            "a branch of torch.cond() writes to its operands. The model computes both branches "
            "and then selects a result, so such a write is not possible. Write to a clone.",
        )
    chosen = pred.reshape(())
    return _pytree.tree_map(lambda a, b: torch.where(chosen, a, b), *results)
