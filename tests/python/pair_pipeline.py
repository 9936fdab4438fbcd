"""A pipeline of two nodes with a state and a fed-back action, exported and in plain PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from conftest import Workbench

from leapp import annotate


def export_pair(bench: Workbench, backend: str = "jit", **options: Any) -> None:
    """``pre`` -> ``policy`` with a state and feedback of the action."""
    last = torch.zeros(1, 3)
    h = torch.zeros(1, 3)
    with bench.trace():
        for _ in range(2):
            obs, prev = annotate.input_tensors("pre", {"obs": torch.randn(1, 3), "prev": last})
            mixed = annotate.output_tensors("pre", {"mixed": obs + 0.5 * prev}, export_with=backend)
            x = annotate.input_tensors("policy", {"x": mixed})
            h = annotate.state_tensors("policy", {"h": h})
            h = torch.tanh(h + x)
            annotate.update_state("policy", {"h": h})
            last = annotate.output_tensors("policy", {"action": h * 2}, export_with=backend)
    bench.compile(**options)


class Reference:
    """The same pipeline in plain PyTorch."""

    def __init__(self) -> None:
        self.last, self.h = torch.zeros(1, 3), torch.zeros(1, 3)

    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        self.h = torch.tanh(self.h + obs + 0.5 * self.last)
        self.last = self.h * 2
        return self.last
