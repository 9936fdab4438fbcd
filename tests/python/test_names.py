"""State is called after the path by which the program reaches it."""

from __future__ import annotations

import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, trace

from leapp._names import name_of


def test_state_is_called_after_the_path_to_it(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.parts["hidden"].mul_(0.5).add_(x)
            total: torch.Tensor = self.parts["hidden"] + x
            return total

    trace(bench, Policy(parts={"hidden": torch.zeros(3)}), passes=2)
    assert "parts_hidden" in bench.text()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("env.action_manager.action", "action_manager_action"),
        ("env.scene['imu'].data", "scene_imu_data"),
        ("self.buffer[2]", "buffer_2"),
        ("ring[2]", "ring_2"),
        ("policy._hidden", "hidden"),
        ("mean", "mean"),
    ],
)
def test_a_path_becomes_a_name(path: str, name: str) -> None:
    assert name_of(path) == name
