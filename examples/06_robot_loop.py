"""Export a small walking policy and run the bundle: python examples/06_robot_loop.py [directory].

Three stages, as robots have them: observations are scaled and joined with the last action, a
recurrent policy keeps its hidden state in a buffer, and the action is limited to what the joints
can do. The code is ordinary PyTorch; LEAPP's part are the annotate lines.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import leapp
from leapp import annotate


class Policy(torch.nn.Module):
    """A GRU policy that carries its hidden state from tick to tick."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = torch.nn.GRUCell(16, 32)
        self.head = torch.nn.Linear(32, 4)
        self.register_buffer("hidden", torch.zeros(1, 32))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.hidden = self.gru(obs, self.hidden)
        return self.head(self.hidden)


@annotate.method(export_with="onnx")
def observe(joints: torch.Tensor, imu: torch.Tensor, last_action: torch.Tensor) -> torch.Tensor:
    obs = torch.cat([joints.clamp(-3.0, 3.0) / 3.0, imu * 0.1, last_action], dim=-1)
    return obs


@annotate.method(export_with="onnx")
def limit(wish: torch.Tensor) -> torch.Tensor:
    action = 0.8 * torch.tanh(wish)
    return action


def sensors(tick: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return simulated measurements, the same as in 06_robot_loop.cpp."""
    phase = 0.1 * tick
    joints = torch.tensor([[torch.sin(torch.tensor(phase + joint)).item() for joint in range(8)]])
    return joints, torch.full((1, 4), 0.5)


def walk(policy: Policy, ticks: int) -> torch.Tensor:
    """Run the control loop; return its last action."""
    action = torch.zeros(1, 4)
    for tick in range(ticks):
        obs = observe(*sensors(tick), action)
        obs = annotate.input_tensors("policy", {"obs": obs})
        annotate.module("policy", policy)
        wish = policy(obs)
        annotate.output_tensors("policy", {"wish": wish}, export_with="onnx")
        action = limit(wish)
    return action


@torch.no_grad()
def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    torch.manual_seed(0)

    leapp.start("walker", save_path=str(folder))
    walk(Policy().eval(), ticks=3)
    leapp.stop()
    leapp.compile_graph()

    torch.manual_seed(0)
    eager = walk(Policy().eval(), ticks=100)
    robot = leapp.InferenceManager(str(folder / "walker" / "walker.yaml"))
    for tick in range(100):
        joints, imu = sensors(tick)
        outputs = robot.run_policy({"observe/joints": joints, "observe/imu": imu})
    print("after 100 ticks, PyTorch:", [f"{value:.4f}" for value in eager[0].tolist()])
    print(
        "after 100 ticks, bundle: ",
        [f"{value:.4f}" for value in outputs["limit/action"][0].tolist()],
    )


if __name__ == "__main__":
    main()
