"""mjlab: imported policies, compared with the computation of mjlab's own controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml
from conftest import refused
from foreign_policies import (
    JOINTS,
    POSE,
    TICKS,
    Policy,
    Stack,
    csv,
    mjlab_metadata,
    port,
    run,
    sensed,
    write_recurrent,
)

import leapp

Array = Any


class MjlabReference:
    """Clip, scale, history (backfilled), term by term; target = default + scale * action."""

    def __init__(self, policy: Policy, stack: Stack, scale: Array) -> None:
        self.policy, self.stack, self.scale = policy, stack, scale
        self.action = np.zeros(policy.actions, np.float32)

    def __call__(self, inputs: dict[str, Array]) -> Array:
        given = {name.removeprefix("observe/"): value[0] for name, value in inputs.items()}
        terms = [
            given["base_ang_vel"] * 0.25,
            np.clip(given["joint_pos"] - POSE, -0.5, 0.6),
            given["joint_vel"] * 0.05,
            self.action,
            given["command"] * [2.0, 2.0, 0.5],
        ]
        self.action = self.policy(self.stack(terms))[0]
        return np.asarray(POSE) + self.scale * self.action


SIZES = {"base_ang_vel": 3, "joint_pos": 3, "joint_vel": 3, "command": 3}


class TestMjlab:
    def test_fifty_ticks_and_a_reset(self, tmp_path: Path) -> None:
        policy = Policy(24, 3)
        policy.write(tmp_path / "policy.onnx", mjlab_metadata(), shape=["batch", 24])
        imported = leapp.import_onnx(
            tmp_path / "policy.onnx", tmp_path / "go", settings={"frequency": "50"}
        )
        assert imported.format == "mjlab"
        robot = run(imported.yaml)
        rng = np.random.default_rng(1)
        for _ in range(2):
            stack = Stack([[0], [2, 1, 0], [0], [1, 0], [0]], time_major=False, backfill=True)
            reference = MjlabReference(policy, stack, np.array([0.25, 0.3, 0.35]))
            for _ in range(TICKS):
                inputs = sensed(rng, **SIZES)
                outputs = robot.run_policy(inputs)
                np.testing.assert_allclose(
                    outputs["act/joint_pos_target"][0], reference(inputs), atol=2e-6
                )
            robot.reset()
        np.testing.assert_allclose(outputs["act/kp"], [[20, 21, 22]])
        np.testing.assert_allclose(outputs["act/kd"], [[0.5, 0.6, 0.7]], rtol=1e-6)

    def test_ports_have_semantics(self, tmp_path: Path) -> None:
        Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata())
        imported = leapp.import_onnx(
            tmp_path / "policy.onnx", tmp_path / "go", settings={"frequency": "50"}
        )
        joint_pos = port(imported.yaml, "observe", "joint_pos")
        assert joint_pos["kind"] == "state/joint/position"
        assert joint_pos["element_names"] == [JOINTS]
        assert joint_pos["unit"] == "rad"
        assert port(imported.yaml, "observe", "command")["kind"] == "command/body/velocity"
        assert port(imported.yaml, "act", "kp")["element_names"] == [JOINTS]
        configs = yaml.safe_load(imported.yaml.read_text())["pipeline"]["configs"]
        assert configs == {"frequency": 50, "default_pose": dict(zip(JOINTS, POSE, strict=True))}
        assert any("three decimals" in note for note in imported.notes)

    def test_histories_that_keep_their_axis_are_stacked_frame_by_frame(
        self, tmp_path: Path
    ) -> None:
        policy = Policy(30, 3)
        metadata = mjlab_metadata(
            observation_terms_history_length=csv([2] * 5),
            observation_terms_flatten_history_dim=csv([False] * 5),
        )
        policy.write(tmp_path / "policy.onnx", metadata, shape=[1, 2, 15])
        robot = run(leapp.import_onnx(tmp_path / "policy.onnx", tmp_path / "go").yaml)
        stack = Stack([[1, 0]] * 5, time_major=True, backfill=True)
        reference = MjlabReference(policy, stack, np.array([0.25, 0.3, 0.35]))
        rng = np.random.default_rng(2)
        for _ in range(TICKS):
            inputs = sensed(rng, **SIZES)
            outputs = robot.run_policy(inputs)
            np.testing.assert_allclose(
                outputs["act/joint_pos_target"][0], reference(inputs), atol=2e-6
            )

    def test_more_joints_than_actions(self, tmp_path: Path) -> None:
        names = ["free", *JOINTS]
        metadata = mjlab_metadata(
            joint_names=csv(names),
            default_joint_pos=csv([0.5, *POSE]),
            observation_names="joint_pos",
            observation_terms_scale="1.000",
            observation_terms_clip="-inf;inf",
            observation_terms_history_length="0.000",
            observation_terms_flatten_history_dim="1.000",
        )
        policy = Policy(4, 3)
        file = policy.write(tmp_path / "policy.onnx", metadata)
        with refused("LP822", "action_joint_names"):
            leapp.import_onnx(file, tmp_path / "go")
        assert not (tmp_path / "go").exists()
        imported = leapp.import_onnx(
            file, tmp_path / "go", settings={"action_joint_names": "calf,hip,thigh"}
        )
        measured = np.array([[0.1, 0.2, 0.3, 0.4]], np.float32)
        outputs = run(imported.yaml).run_policy({"observe/joint_pos": measured})
        calf, hip, thigh = policy(measured - [0.5, *POSE])[0] * [0.25, 0.3, 0.35]
        np.testing.assert_allclose(
            outputs["act/joint_pos_target"][0],
            np.array(POSE) + np.array([hip, thigh, calf]),
            atol=1e-6,
        )
        # Gains are listed by joint, not by element of the action.
        np.testing.assert_allclose(outputs["act/kp"], [[20, 21, 22]])

    def test_older_brackets_read_the_same(self, tmp_path: Path) -> None:
        clips = "[-inf, inf],[-0.5, 0.6],[-inf, inf],[-inf, inf],[-inf, inf]"
        policy = Policy(24, 3)
        file = policy.write(tmp_path / "a.onnx", mjlab_metadata(observation_terms_clip=clips))
        same = policy.write(tmp_path / "b.onnx", mjlab_metadata())
        first = leapp.import_onnx(file, tmp_path / "go").yaml.parent
        second = leapp.import_onnx(same, tmp_path / "two" / "go").yaml.parent
        assert (first / "observe.onnx").read_bytes() == (second / "observe.onnx").read_bytes()

    def test_a_recurrent_policy_keeps_its_memory(self, tmp_path: Path) -> None:
        metadata = mjlab_metadata(
            joint_names="hip",
            joint_stiffness="20.000",
            joint_damping="0.500",
            default_joint_pos="0.000",
            action_scale="1.0",
            observation_names="base_ang_vel",
            observation_terms_scale="1.000",
            observation_terms_clip="-inf;inf",
            observation_terms_history_length="0.000",
            observation_terms_flatten_history_dim="1.000",
        )
        file = write_recurrent(tmp_path / "policy.onnx", metadata, 3)
        robot = run(leapp.import_onnx(file, tmp_path / "go").yaml)
        ones = {"observe/base_ang_vel": np.ones((1, 3), np.float32)}
        seen = [float(robot.run_policy(ones)["act/joint_pos_target"][0, 0]) for _ in range(3)]
        assert seen == [3.0, 4.5, 5.25]
