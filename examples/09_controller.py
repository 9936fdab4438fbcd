"""A policy on a robot whose joints have another order and use degrees.

    python examples/09_controller.py [directory]

Exports the policy with its contract, describes the robot, and runs the loop at 200 Hz with the
policy at 50 Hz. 09_controller.cpp runs the same from C++, without PyTorch.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import leapp
from leapp import GraphConfigs, Limits, TensorSemantics, annotate

JOINTS = ["hip", "knee"]

ROBOT = """\
rate: 200
joints: [knee, hip]
sensors:
  encoders: {kind: state/joint/position, unit: deg}
  velocity: {kind: command/body/velocity, elements: [lin_vel_x], unit: m/s}
actuators:
  motors: {kind: target/joint/position, unit: deg}
"""


def export(folder: Path) -> None:
    """Trace two passes of the policy, and write the bundle."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.ELU(), torch.nn.Linear(16, 2))
    leapp.start("legs", save_path=str(folder))
    for _ in range(2):
        q, command = annotate.input_tensors(
            "policy",
            [
                TensorSemantics(
                    "joint_pos",
                    torch.zeros(1, 2),
                    kind="state/joint/position",
                    element_names=JOINTS,
                    unit="rad",
                    max_age_ms=50,
                ),
                TensorSemantics(
                    "command",
                    torch.zeros(1, 1),
                    kind="command/body/velocity",
                    element_names=["lin_vel_x"],
                    unit="m/s",
                ),
            ],
        )
        target = TensorSemantics(
            "target",
            net(torch.cat([q, command], 1)),
            kind="target/joint/position",
            element_names=JOINTS,
            unit="rad",
            limits=Limits(lower=-1.5, upper=1.5, rate=5.0),
            fallback="damp",
        )
        annotate.output_tensors("policy", target, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(
        graph_configs=GraphConfigs(frequency=50, command_ranges={"lin_vel_x": (-1, 1)})
    )
    (folder / "robot.yaml").write_text(ROBOT)


def main() -> None:
    """Export, then run two seconds of the loop."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    export(folder)
    time = 0.0
    controller = leapp.Controller(
        folder / "legs/legs.yaml", folder / "robot.yaml", blend_in=0.5, clock=lambda: time
    )
    controller.start()
    motors = [10.0, 20.0]  # degrees; knee, hip: the robot's own order
    for _ in range(400):
        controller.set_sensor("encoders", motors)  # these motors follow immediately
        controller.set_sensor("velocity", [3.0])  # more than the policy was trained for
        controller.update()
        motors = controller.actuator("motors")
        time += 1 / 200
    print("after two seconds, Python:", [f"{angle:.4f}" for angle in motors])
    print("interventions", {cause: n for cause, n in controller.counts().items() if n})


if __name__ == "__main__":
    main()
