"""Traced tensors that are pickled: what comes back is another tensor, from nowhere."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable
from typing import Any

import torch

from .. import _trace
from .._numpy import note_escape
from .._replacing import Patch, replaced
from .detector import Detector


class Pickles(Detector):
    """Looks at tensors that are pickled while a node is open."""

    def patches(self) -> Iterable[Patch]:
        """Replace what pickle asks."""
        yield replaced(torch.Tensor, "__reduce_ex__", _noting_escape)


def _noting_escape(original: Any) -> Any:
    def reduce(self: torch.Tensor, protocol: Any) -> Any:
        # copy.copy() asks as well, and makes a tensor over the same memory of it.
        if _trace.any_open() and sys._getframe(1).f_code is not copy.copy.__code__:
            note_escape(self, "Pickling", pickled=True)
        return original(self, protocol)

    return reduce
