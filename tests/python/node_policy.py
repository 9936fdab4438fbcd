"""A policy of one node with a function of the test, and the messages about it."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import annotate

tells_positions = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 has neither qualified names nor columns"
)


class NodePolicy:
    """A node with a given function, called as often as a test requests."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    def function(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def step(self, x: torch.Tensor) -> torch.Tensor:
        x = annotate.input_tensors("node", {"x": x})
        y: torch.Tensor = annotate.output_tensors(
            "node", {"y": self.function(x)}, export_with="jit"
        )
        return y


def trace(bench: Workbench, policy: NodePolicy, passes: int = 1) -> str:
    """Export a policy; return the log."""
    leapp.start("g", save_path=str(bench.folder))
    with torch.no_grad():
        for _ in range(passes):
            policy.step(torch.randn(3))
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return bench.log()
