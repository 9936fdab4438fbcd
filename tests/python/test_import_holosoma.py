"""Holosoma: imported policies, and the settings that their files lack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import yaml
from conftest import refused
from foreign_policies import (
    JOINTS,
    POSE,
    TICKS,
    Policy,
    Stack,
    run,
    sensed,
)

import leapp


def holosoma_metadata() -> dict[str, str]:
    metadata = {
        "dof_names": JOINTS,
        "kp": [20.0, 21.0, 22.0],
        "kd": [0.5, 0.6, 0.7],
        "action_scale": 0.25,
        "command_ranges": {"lin_vel_x": [-1.0, 1.5], "ang_vel_yaw": [-2.0, 2.0]},
        "robot_urdf": "<robot/>",
        "robot_urdf_path": "robot.urdf",
    }
    return {key: json.dumps(value) for key, value in metadata.items()}


class TestHolosoma:
    SETTINGS: ClassVar = {
        "observation_names": "base_ang_vel,command_lin_vel,command_ang_vel,dof_pos,dof_vel,actions",
        "observation_terms_scale": "0.25,1,1,1,0.05,1",
        "observation_history_lengths": "4",
        "default_joint_pos": "0.1,0.8,-1.5",
        "frequency": "50",
    }

    def test_missing_keys_are_named(self, tmp_path: Path) -> None:
        file = Policy(60, 3).write(
            tmp_path / "policy.onnx", holosoma_metadata(), obs="actor_obs", actions="action"
        )
        given: dict[str, str] = {}
        for key in ("default_joint_pos", "observation_names"):
            with pytest.raises(leapp.LeappValueError, match=f"'{key}' is missing.*--set") as caught:
                leapp.import_onnx(file, tmp_path / "loco", settings=given)
            assert caught.value.code == "LP822"
            given[key] = self.SETTINGS[key]
        assert not (tmp_path / "loco").exists()

    def test_a_pose_of_newer_files_and_an_action_of_another_meaning(self, tmp_path: Path) -> None:
        settings = {key: value for key, value in self.SETTINGS.items() if key[:7] != "default"}
        metadata = {**holosoma_metadata(), "default_dof_pos": "null"}
        file = Policy(60, 3).write(tmp_path / "a.onnx", metadata, obs="actor_obs")
        with refused("LP822", "'default_joint_pos'"):
            leapp.import_onnx(file, tmp_path / "loco", settings=settings)
        metadata["default_dof_pos"] = json.dumps(POSE)
        file = Policy(60, 3).write(tmp_path / "b.onnx", metadata, obs="actor_obs")
        assert leapp.import_onnx(file, tmp_path / "loco", settings=settings).format == "holosoma"
        metadata["action_contract"] = json.dumps("absolute_target_v1")
        file = Policy(60, 3).write(tmp_path / "c.onnx", metadata, obs="actor_obs")
        with refused("LP824", "action_contract"):
            leapp.import_onnx(file, tmp_path / "loco", settings=settings)

    def test_fifty_ticks(self, tmp_path: Path) -> None:
        policy = Policy(60, 3)
        file = policy.write(
            tmp_path / "policy.onnx", holosoma_metadata(), obs="actor_obs", actions="action"
        )
        imported = leapp.import_onnx(file, tmp_path / "loco", settings=self.SETTINGS)
        assert imported.format == "holosoma"
        configs = yaml.safe_load(imported.yaml.read_text())["pipeline"]["configs"]
        assert configs["command_ranges"] == {"lin_vel_x": [-1.0, 1.5], "ang_vel_z": [-2.0, 2.0]}
        robot = run(imported.yaml)
        stack = Stack([[3, 2, 1, 0]] * 6, time_major=False, backfill=False)
        rng = np.random.default_rng(4)
        action = np.zeros(3, np.float32)
        sizes = {
            "base_ang_vel": 3,
            "joint_pos": 3,
            "joint_vel": 3,
            "command_lin_vel": 2,
            "command_ang_vel": 1,
        }
        for _ in range(TICKS):
            inputs = sensed(rng, **sizes)
            outputs = robot.run_policy(inputs)
            given = {name.removeprefix("observe/"): value[0] for name, value in inputs.items()}
            obs = stack(  # in alphabetical order
                [
                    action,
                    given["base_ang_vel"] * 0.25,
                    given["command_ang_vel"],
                    given["command_lin_vel"],
                    given["joint_pos"] - POSE,
                    given["joint_vel"] * 0.05,
                ]
            )
            action = np.clip(policy(obs)[0], -100, 100)
            expected = np.asarray(POSE) + 0.25 * action
            np.testing.assert_allclose(outputs["act/joint_pos_target"][0], expected, atol=2e-6)
