"""Export a policy that stands: it holds the default pose of the walking policy, with its gains.

    python examples/11_go1_switches/export_stand.py [directory]

Writes the bundle ``folder/stand/stand.yaml``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

import leapp
from leapp import GraphConfigs, Limits, TensorSemantics, annotate

HERE = Path(__file__).resolve().parent
WALK = HERE.parent / "08_go1_walks/go1/go1.yaml"


class Stand(torch.nn.Module):
    """Holds a pose, whatever the joints measure."""

    pose: torch.Tensor

    def __init__(self, pose: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("pose", pose)

    def forward(self, joint_pos: torch.Tensor) -> torch.Tensor:
        return self.pose + 0 * joint_pos


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    folder = parser.parse_args().folder
    walk = leapp.InferenceManager(WALK)
    constants = walk.run_policy(walk.get_mock_input())
    described = walk.models["policy"]["inputs"]
    joints = next(port for port in described if port["name"] == "robot_joint_vel")["element_names"]
    policy = Stand(torch.as_tensor(constants["policy/joint_pos_default"]))

    leapp.start("stand", save_path=str(folder))
    for _ in range(2):
        joint_pos = annotate.input_tensors(
            "policy",
            TensorSemantics(
                "joint_pos",
                torch.zeros(1, 12),
                kind="state/joint/position",
                element_names=joints[-1],
                unit="rad",
                max_age_ms=100,
            ),
        )
        target = TensorSemantics(
            "joint_pos_target",
            policy(joint_pos),
            kind="target/joint/position",
            element_names=joints[-1],
            unit="rad",
            limits=Limits(rate=10.0),
        )
        gains = [
            TensorSemantics(
                f"joint_pos_{kind}_gains",
                torch.as_tensor(constants[f"policy/joint_pos_{kind}_gains"]),
                kind=kind,
                element_names=joints[-1],
            )
            for kind in ("kp", "kd")
        ]
        annotate.output_tensors("policy", target, static_outputs=gains, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(graph_configs=GraphConfigs(frequency=50))


if __name__ == "__main__":
    main()
