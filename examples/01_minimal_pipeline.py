"""Two stages, exported and run: python examples/01_minimal_pipeline.py [directory].

The README's example. 01_minimal_pipeline.cpp runs the same bundle without PyTorch.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import leapp
from leapp import annotate


@torch.no_grad()
def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    torch.manual_seed(0)
    policy = torch.nn.Sequential(torch.nn.Linear(12, 64), torch.nn.ELU(), torch.nn.Linear(64, 4))
    action = torch.zeros(1, 4)

    leapp.start("minimal", save_path=str(folder))
    for _ in range(2):  # the second pass shows LEAPP that last_action is the policy's own output
        sensed = {"joints": torch.randn(1, 8), "last_action": action}
        joints, last_action = annotate.input_tensors("observe", sensed)
        obs = torch.cat([joints.clamp(-5, 5) / 5, last_action], dim=-1)
        annotate.output_tensors("observe", {"obs": obs}, export_with="onnx")

        obs = annotate.input_tensors("policy", {"obs": obs})
        action = torch.tanh(policy(obs))
        annotate.output_tensors("policy", {"action": action}, export_with="onnx")
    leapp.stop()
    print("validated:", leapp.compile_graph())

    robot = leapp.InferenceManager(str(folder / "minimal" / "minimal.yaml"))
    for tick in range(3):
        outputs = robot.run_policy({"observe/joints": torch.full((1, 8), 0.1 * tick)})
        print(f"tick {tick}:", " ".join(f"{v:.4f}" for v in outputs["policy/action"][0].tolist()))


if __name__ == "__main__":
    main()
