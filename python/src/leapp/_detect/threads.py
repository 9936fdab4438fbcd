"""Tensors that another thread computed: what operators do there is not seen."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Iterable
from typing import Any

import torch

from .. import _trace
from .._snapshot import leaves_of
from .detector import Detector, Patch, wrapped


class Threads(Detector):
    """Looks at what futures hand over while a node is open."""

    def patches(self) -> Iterable[Patch]:
        """Replace what all results go through."""
        yield wrapped(concurrent.futures.Future, ["result"], _looking_at_result)


def _looking_at_result(original: Any) -> Any:
    def result(self: Any, *args: Any, **options: Any) -> Any:
        found = original(self, *args, **options)
        if _trace.any_open() and any(map(_is_strange, leaves_of(found))):
            _trace.diagnose(
                "LP215",
                "a tensor comes from another thread while a node is open. What operators do there "
                "is not seen: the value is exported as a constant. Compute it in the thread that "
                "traces, or pass it through annotate.input_tensors().",
            )
        return found

    return result


def _is_strange(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not _trace.is_traced(value)
