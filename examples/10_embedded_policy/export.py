"""Export a walking policy as C++: python examples/10_embedded_policy/export.py [directory].

Two nodes: observations are scaled and joined with the last action, and a recurrent policy keeps its
hidden state. The last lines print what PyTorch computes in ten ticks; main.cpp prints the same.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import leapp
from leapp import annotate


class Walker(torch.nn.Module):
    """A GRU cell and a small network behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = torch.nn.GRUCell(16, 32)
        self.head = torch.nn.Sequential(
            torch.nn.Linear(32, 24), torch.nn.ELU(), torch.nn.Linear(24, 4)
        )
        self.register_buffer("hidden", torch.zeros(1, 32))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.hidden = self.gru(obs, self.hidden)
        return torch.tanh(self.head(self.hidden))


@annotate.method(export_with="cpp")
def observe(joints: torch.Tensor, imu: torch.Tensor, last_action: torch.Tensor) -> torch.Tensor:
    obs = torch.cat([joints.clamp(-3.0, 3.0) / 3.0, imu * 0.1, last_action], dim=-1)
    return obs


def walk(policy: Walker, ticks: int, show: bool = False) -> None:
    """The control loop, with sensors that count."""
    action = torch.zeros(1, 4)
    for tick in range(ticks):
        joints = torch.tensor([[0.05 * ((7 * tick + 3 * joint) % 40 - 20) for joint in range(8)]])
        obs = observe(joints, torch.full((1, 4), 0.5), action)
        obs = annotate.input_tensors("policy", {"obs": obs})
        annotate.module("policy", policy)
        action = policy(obs)
        annotate.output_tensors("policy", {"action": action}, export_with="cpp")
        if show:
            print(" ".join(f"{value:.6f}" for value in action[0].tolist()))


@torch.no_grad()
def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parent)
    torch.manual_seed(0)
    leapp.start("walker", save_path=folder)
    walk(Walker().eval(), ticks=3)
    leapp.stop()
    leapp.compile_graph()

    torch.manual_seed(0)
    walk(Walker().eval(), ticks=10, show=True)


if __name__ == "__main__":
    main()
