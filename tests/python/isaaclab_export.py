"""The calls of Isaac Lab's exporter to this package, around a robot of three joints.

A separate program, because Isaac Lab turns PyTorch's JIT off before it imports anything else:
``isaaclab_export.py METHOD DIRECTORY``. It prints the values of the simulated policy as JSON.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

import torch

torch.jit._state.disable()

import leapp  # noqa: E402
from leapp import annotate  # noqa: E402
from leapp.utils.enums import InputKindEnum  # noqa: E402
from leapp.utils.tensor_description import TensorSemantics  # noqa: E402

TASK = "Isaac-Velocity-Flat-Biped-v0"
JOINTS = ["hip", "knee", "ankle"]
DRIVEN = [0, 2]  # the action's joints
STEPS = 4
DEFAULT = torch.tensor([[0.1, -0.4, 0.2]])


@torch.jit.script
def rotate_inverse(q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Rotate by the inverse of a quaternion; scripted, as Isaac Lab's helpers are."""
    w, xyz = q[:, 3:], q[:, :3]
    t = 2.0 * torch.cross(v, xyz, dim=-1)
    return v + w * t + torch.cross(t, xyz, dim=-1)


class Robot:
    """A scene entity: memory that the simulation writes, and targets that the policy writes."""

    def __init__(self) -> None:
        sizes = {"root_quat_w": 4, "joint_pos": 3, "root_ang_vel_b": 3, "command": 3}
        self.data = {name: torch.randn(1, size) for name, size in sizes.items()}
        self.stiffness, self.damping = torch.full((1, 3), 40.0), torch.full((1, 3), 2.0)
        self.log: list[Any] = []

    def simulate(self) -> None:
        for value in self.data.values():
            value.copy_(torch.sin(3 * value + 0.5))


class Actor(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(3 + 3 + 9 + 2 + 3, 8)
        self.head = torch.nn.Linear(8, 2)
        self.states = (torch.zeros(1, 1, 8), torch.zeros(1, 1, 8))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.states = self.lstm(obs.unsqueeze(0), self.states)
        return self.head(out.squeeze(0))


class Env:
    """The managers, with the exporter's patches."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.robot = Robot()
        self.action = torch.zeros(1, 2)
        self.history = torch.zeros(1, 3, 3)  # of the angular velocity, oldest first

    def read(self, name: str, kind: Any, names: Any) -> Any:
        semantics = TensorSemantics(
            name=f"robot_{name}",
            ref=self.robot.data[name],
            kind=kind,
            element_names=names,
            extra={"isaaclab_connection": f"state:robot:{name}"},
        )
        return annotate.input_tensors(TASK, semantics)

    def observe(self) -> torch.Tensor:
        rotation = self.read("root_quat_w", InputKindEnum.BODY_ROTATION, ["qx", "qy", "qz", "qw"])
        gravity = rotate_inverse(rotation, torch.tensor([[0.0, 0.0, -1.0]]))
        position = self.read("joint_pos", InputKindEnum.JOINT_POSITION, JOINTS)
        velocity = self.read("root_ang_vel_b", InputKindEnum.BODY_ANGULAR_VELOCITY, ["x", "y", "z"])
        command = TensorSemantics(
            name="base_velocity",
            ref=self.robot.data["command"],
            kind="command/body/velocity",
            element_names=["lin_vel_x", "lin_vel_y", "ang_vel_z"],
            extra={"isaaclab_connection": "command:base_velocity"},
        )
        command = annotate.input_tensors(TASK, command)
        last = annotate.state_tensors(TASK, {"last_action": self.action})
        return torch.cat(
            [gravity, position - DEFAULT, self.append(velocity).flatten(1), last, command], dim=-1
        )

    def append(self, data: torch.Tensor) -> torch.Tensor:
        """A history buffer that is rolled and written in place."""
        name = "h_policy_base_ang_vel"
        self.history = annotate.state_tensors(TASK, {name: self.history})
        self.history = torch.roll(self.history, -1, dims=1)
        self.history[:, -1] = data
        self.history = annotate.update_state(TASK, {name: self.history})
        return self.history

    def step(self, action: torch.Tensor) -> torch.Tensor:
        self.action = action.clone()
        target = DEFAULT[:, DRIVEN] + 0.5 * action
        names = [JOINTS[joint] for joint in DRIVEN]
        annotate.update_state(TASK, {"last_action": self.action})
        annotate.output_tensors(
            TASK,
            [self.written("joint_pos", target, "target/joint/position",
                          "set_joint_position_target_index", names)],
            static_outputs=[
                self.written("joint_pos_kp_gains", self.robot.stiffness[:, DRIVEN], "kp",
                             "write_joint_stiffness_to_sim_index", names),
                self.written("joint_pos_kd_gains", self.robot.damping[:, DRIVEN], "kd",
                             "write_joint_damping_to_sim_index", names),
            ],
            export_with=self.method,
        )  # fmt: skip
        seen = {name: value.tolist() for name, value in self.robot.data.items()}
        self.robot.log.append({"data": seen, "target": target.tolist()})
        self.robot.simulate()
        return self.observe()  # of the next step; no action follows the last one

    @staticmethod
    def written(name: str, ref: Any, kind: str, method: str, names: list[str]) -> Any:
        extra = {"isaaclab_connection": f"write:robot:{method}"}
        return TensorSemantics(name=name, ref=ref, kind=kind, element_names=[names], extra=extra)


def graph_configs() -> leapp.GraphConfigs:
    requirement = {
        "capability": "gravity_compensation",
        "source_term": "joint_pos",
        "kind": "target/joint/effort",
        "element_names": [["hip", "ankle"]],
        "cadence": "action_apply",
        "isaaclab_connection": "write:robot:set_joint_effort_target_index",
    }
    owned = {"schema_version": 1, "requirements": [requirement]}
    extra = {"isaaclab": {"controller_owned_writes": owned}}
    return leapp.GraphConfigs(frequency=50.0, extra=extra)


def main() -> None:
    method, folder = sys.argv[1:]
    torch.manual_seed(0)
    env, actor = Env(method), Actor().eval()
    started = False
    try:
        leapp.start("biped", save_path=folder, max_cached_io=max(STEPS, 2))
        started = True
        obs = env.observe()
        for _ in range(STEPS):
            with torch.inference_mode():
                names = [f"actor_state_{i}" for i in range(2)]
                given = dict(zip(names, actor.states, strict=True))
                actor.states = annotate.state_tensors(TASK, given)
                actions = actor(obs)
                annotate.update_state(TASK, dict(zip(names, actor.states, strict=True)))
                obs = env.step(actions)
        leapp.stop()
        started = False
        report = leapp.compile_graph(visualize=False, graph_configs=graph_configs())
    finally:
        if started:
            with contextlib.suppress(Exception):
                leapp.stop()
    print(json.dumps({"report": report, "steps": env.robot.log}))


if __name__ == "__main__":
    main()
