"""BeyondMimic: an imported policy follows the motion in its model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from conftest import refused
from foreign_policies import (
    JOINTS,
    POSE,
    TICKS,
    Policy,
    csv,
    mjlab_metadata,
    run,
    sensed,
)

import leapp

Array = Any


def rotation(quaternion: Array) -> Array:
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def unit_quaternions(rng: np.random.Generator, *shape: int) -> Array:
    values = rng.standard_normal((*shape, 4))
    return (values / np.linalg.norm(values, axis=-1, keepdims=True)).astype(np.float32)


def test_beyondmimic_follows_the_motion_of_its_model(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frames, bodies = 30, ["pelvis", "torso", "hand"]
    motion = {
        "joint_pos": rng.standard_normal((frames, 3)),
        "joint_vel": rng.standard_normal((frames, 3)),
        "body_pos_w": rng.standard_normal((frames, 3, 3)),
        "body_quat_w": unit_quaternions(rng, frames, 3),
    }
    metadata = {
        "run_path": "local",
        "joint_names": csv(JOINTS),
        "joint_stiffness": csv([20.0, 21.0, 22.0]),
        "joint_damping": csv([0.5, 0.6, 0.7]),
        "default_joint_pos": csv(POSE),
        "command_names": "motion",
        "observation_names": "command,motion_anchor_pos_b,motion_anchor_ori_b,joint_pos,actions",
        "observation_history_lengths": csv([1, 1, 1, 1, 1]),
        "action_scale": csv([0.25, 0.3, 0.35]),
        "anchor_body_name": "torso",
        "body_names": csv(bodies),
    }
    policy = Policy(6 + 3 + 6 + 3 + 3, 3)
    file = policy.write(tmp_path / "policy.onnx", metadata, motion=motion)
    imported = leapp.import_onnx(file, tmp_path / "dance")
    assert imported.format == "beyondmimic"
    robot = run(imported.yaml)
    action = np.zeros(3, np.float32)
    for tick in range(TICKS):  # beyond the end of the motion, which holds its last frame
        now = min(tick, frames - 1)
        inputs = sensed(rng, joint_pos=3, anchor_pos=3)
        quaternion = unit_quaternions(rng, 1)
        outputs = robot.run_policy({**inputs, "observe/anchor_quat": quaternion})
        turn = rotation(quaternion[0].astype(float))
        away = motion["body_pos_w"][now, 1] - inputs["observe/anchor_pos"][0]
        relative = turn.T @ rotation(motion["body_quat_w"][now, 1].astype(float))
        obs = np.concatenate(
            [
                motion["joint_pos"][now],
                motion["joint_vel"][now],
                turn.T @ away,
                relative[:, :2].reshape(-1),
                inputs["observe/joint_pos"][0] - POSE,
                action,
            ]
        )
        action = policy(obs[None])[0]
        expected = np.asarray(POSE) + np.array([0.25, 0.3, 0.35]) * action
        np.testing.assert_allclose(outputs["act/joint_pos_target"][0], expected, atol=1e-5)


def test_a_motion_of_other_bodies_than_are_named(tmp_path: Path) -> None:
    motion = {
        "joint_pos": np.zeros((5, 3)),
        "joint_vel": np.zeros((5, 3)),
        "body_pos_w": np.zeros((5, 3, 3)),
        "body_quat_w": np.zeros((5, 3, 4)),
    }
    metadata = {
        **mjlab_metadata(),
        "observation_names": "command,motion_anchor_pos_b",
        "observation_history_lengths": "1,1",
        "anchor_body_name": "torso",
        "body_names": "pelvis,torso",
    }
    for key in [key for key in metadata if key.startswith("observation_terms")]:
        del metadata[key]
    file = Policy(9, 3).write(tmp_path / "policy.onnx", metadata, motion=motion)
    with refused("LP824", "'body_pos_w'"):
        leapp.import_onnx(file, tmp_path / "dance")
