"""Values that leave a node, or come into it, where no operator shows it.

A size that traced values decided becomes part of the model once it is read as a number; a pickled
tensor comes back as another one, from nowhere; what another thread computes is not seen.
"""

from __future__ import annotations

import concurrent.futures
import copy
import sys
from collections.abc import Iterable
from typing import Any

import torch

from .. import _trace
from .._numpy import note_escape
from .._replacing import Patch, replaced
from .._snapshot import leaves_of
from .detector import Detector


class Escapes(Detector):
    """Looks at sizes, pickles and the results of futures while a node is open."""

    def patches(self) -> Iterable[Patch]:
        """Replace what each of them goes through."""
        shape: Any = torch._C.TensorBase.shape
        yield torch.Tensor, {"shape": property(_noting_size(shape.__get__))}
        yield replaced(torch.Tensor, "__len__ size numel nelement", _noting_size)
        yield replaced(torch.Tensor, "__reduce_ex__", _noting_pickle)
        yield replaced(concurrent.futures.Future, "result", _looking_at_result)


def _noting_size(original: Any) -> Any:
    def measure(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if _trace.any_open():
            # What the code does with a size may become part of the model: PyTorch's code counts.
            asking = sys._getframe(1).f_globals.get("__name__", "")
            if not asking.startswith(("leapp.", "torch._numpy")):
                _trace.note_size(self)
        return original(self, *args, **kwargs)

    return measure


def _noting_pickle(original: Any) -> Any:
    def reduce(self: torch.Tensor, protocol: Any) -> Any:
        # copy.copy() asks as well, and makes a tensor over the same memory of it.
        if _trace.any_open() and sys._getframe(1).f_code is not copy.copy.__code__:
            note_escape(self, "Pickling", pickled=True)
        return original(self, protocol)

    return reduce


def _looking_at_result(original: Any) -> Any:
    def result(self: Any, *args: Any, **options: Any) -> Any:
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

    return result
