"""``leapp import --deploy``: unitree_rl_lab's deploy.yaml and rl_sar's config.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import yaml
from foreign_policies import Policy, Stack

import leapp

Array = Any
TICKS = 50


def random_inputs(rng: np.random.Generator, sizes: dict[str, int]) -> dict[str, Array]:
    return {
        f"observe/{name}": rng.standard_normal((1, size)).astype(np.float32)
        for name, size in sizes.items()
    }


def given(inputs: dict[str, Array]) -> dict[str, Array]:
    return {name.removeprefix("observe/"): value[0] for name, value in inputs.items()}


MAP = [5, 0, 3]  # joint of the policy -> motor; no joint has the motors 1, 2 and 4
ORDER = [1, 2, 0]  # the policy's joints by ascending motor: 0, 3, 5
POLICY_POSE = np.array([0.1, 0.8, -1.5])  # by the policy's joint
MOTOR_POSE = POLICY_POSE[ORDER]


def deploy(**other: Any) -> dict[str, Any]:
    """Write a file in the form of unitree_rl_lab: 2 x (3 + 3 + 3 + 3) values."""

    def term(scale: list[float], **more: Any) -> dict[str, Any]:
        return {"params": {}, "clip": None, "scale": scale, "history_length": 2, **more}

    return {
        "joint_ids_map": MAP,
        "step_dt": 0.02,
        "stiffness": [10.0, 11.0, 12.0, 13.0, 14.0, 15.0],  # by motor
        "damping": [1.0, 1.1, 1.2, 1.3, 1.4, 1.5],
        "default_joint_pos": POLICY_POSE.tolist(),
        "commands": {"base_velocity": {"ranges": {"lin_vel_x": [-0.5, 1.0], "heading": None}}},
        "actions": {
            "JointPositionAction": {
                "clip": [[-0.2, 0.3], [-10.0, 10.0], [-10.0, 10.0]],
                "joint_names": [".*"],
                "scale": [0.25, 0.3, 0.35],
                "offset": POLICY_POSE.tolist(),
                "joint_ids": None,
            }
        },
        "observations": {
            "base_ang_vel": term([0.2, 0.2, 0.2]),
            "velocity_commands": term([1.0, 1.0, 1.0], clip=[-0.7, 0.7]),
            "joint_pos_rel": term([1.0, 2.0, 3.0]),
            "last_action": term([1.0, 1.0, 1.0]),
            **other.pop("terms", {}),
        },
        **other,
    }


def write(folder: Path, document: dict[str, Any]) -> Path:
    file = folder / "deploy.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return file


class TestUnitree:
    SIZES: ClassVar = {"base_ang_vel": 3, "velocity_commands": 3, "joint_pos": 3}

    @pytest.mark.parametrize("gym_history", [False, True])
    def test_fifty_ticks(self, tmp_path: Path, gym_history: bool) -> None:
        document = deploy()
        if gym_history:
            document["observations"]["use_gym_history"] = True
        policy = Policy(24, 3)
        file = policy.write(tmp_path / "policy.onnx", {})
        imported = leapp.import_onnx(file, tmp_path / "g1", write(tmp_path, document))
        assert imported.format == "unitree_rl_lab"
        assert any("SDK's order" in note for note in imported.notes)
        robot = leapp.InferenceManager(imported.yaml, array="numpy")
        stack = Stack([[1, 0]] * 4, time_major=gym_history, backfill=True)
        rng = np.random.default_rng(0)
        action = np.zeros(3, np.float32)
        for _ in range(TICKS):
            inputs = random_inputs(rng, self.SIZES)
            outputs = robot.run_policy(inputs)
            seen = given(inputs)
            motors = dict(zip([0, 3, 5], seen["joint_pos"], strict=True))
            joint_pos = np.array([motors[motor] for motor in MAP])
            obs = stack(
                [
                    seen["base_ang_vel"] * 0.2,
                    np.clip(seen["velocity_commands"], -0.7, 0.7),
                    (joint_pos - POLICY_POSE) * [1.0, 2.0, 3.0],
                    action,
                ]
            )
            action = policy(obs)[0]
            target = action * [0.25, 0.3, 0.35] + POLICY_POSE
            target = np.clip(target, [-0.2, -10, -10], [0.3, 10, 10])
            np.testing.assert_allclose(outputs["act/joint_pos_target"][0], target[ORDER], atol=2e-6)
        np.testing.assert_allclose(outputs["act/kp"], [[10, 13, 15]])
        np.testing.assert_allclose(outputs["act/kd"], [[1.0, 1.3, 1.5]], rtol=1e-6)

    def test_names_pose_and_ranges(self, tmp_path: Path) -> None:
        file = Policy(24, 3).write(tmp_path / "policy.onnx", {})
        settings = {"joint_names": "hip,thigh,calf"}
        imported = leapp.import_onnx(file, tmp_path / "g1", write(tmp_path, deploy()), settings)
        document = yaml.safe_load(imported.yaml.read_text())
        assert document["pipeline"]["configs"] == {
            "frequency": 50,
            "default_pose": dict(zip(["hip", "thigh", "calf"], MOTOR_POSE.tolist(), strict=True)),
            "command_ranges": {"lin_vel_x": [-0.5, 1]},
        }
        unnamed = leapp.import_onnx(file, tmp_path / "g2", tmp_path / "deploy.yaml")
        pose = yaml.safe_load(unnamed.yaml.read_text())["pipeline"]["configs"]["default_pose"]
        assert list(pose) == ["motor_0", "motor_3", "motor_5"]

    def test_gait_phase_and_wheels(self, tmp_path: Path) -> None:
        document = deploy(
            terms={"gait_phase": {"params": {"period": 0.8}, "scale": None, "clip": None}},
            actions={
                "JointPositionAction": {
                    "scale": [0.5, 0.5],
                    "offset": [0.1, 0.2],
                    "joint_ids": [0, 2],
                },
                "JointVelocityAction": {"scale": [5.0], "offset": [0.0], "joint_ids": [1]},
            },
        )
        policy = Policy(26, 3)
        file = policy.write(tmp_path / "policy.onnx", {})
        imported = leapp.import_onnx(file, tmp_path / "go2w", write(tmp_path, document))
        robot = leapp.InferenceManager(imported.yaml, array="numpy")
        stack = Stack([[1, 0]] * 4 + [[0]], time_major=False, backfill=True)
        rng = np.random.default_rng(1)
        action = np.zeros(3, np.float32)
        for tick in range(TICKS):
            inputs = random_inputs(rng, self.SIZES)
            outputs = robot.run_policy(inputs)
            seen = given(inputs)
            phase = 2 * np.pi * (tick * 0.02 % 0.8) / 0.8
            joint_pos = seen["joint_pos"][[2, 0, 1]]
            obs = stack(
                [
                    seen["base_ang_vel"] * 0.2,
                    np.clip(seen["velocity_commands"], -0.7, 0.7),
                    (joint_pos - POLICY_POSE) * [1.0, 2.0, 3.0],
                    action,
                    np.array([np.sin(phase), np.cos(phase)]),
                ]
            )
            action = policy(obs)[0]
            positions = {5: action[0] * 0.5 + 0.1, 3: action[1] * 0.5 + 0.2}
            np.testing.assert_allclose(
                outputs["act/joint_pos_target"][0], [positions[3], positions[5]], atol=1e-5
            )
            np.testing.assert_allclose(
                outputs["act/joint_vel_target"][0], [action[2] * 5], atol=1e-5
            )

    @pytest.mark.parametrize(
        ("other", "code", "said"),
        [
            ({"joint_ids_map": [0, 0, 3]}, "LP823", "each motor once"),
            ({"joint_ids_map": [0, -1, 3]}, "LP823", "whole numbers"),
            ({"joint_ids_map": [0, 1, 10**12]}, "LP823", "whole numbers"),
            ({"stiffness": [10.0, 11.0, 12.0]}, "LP823", "order of the SDK's motors"),
            ({"damping": None}, "LP822", "'damping' is missing"),
            ({"default_joint_pos": [0.1, float("nan"), 0.2]}, "LP823", "finite number"),
            ({"default_joint_pos": [0.1, 0.2]}, "LP823", "expected 3"),
            ({"step_dt": 0.0}, "LP823", "positive"),
            ({"actions": {"TorqueAction": {}}}, "LP823", "TorqueAction"),
            (
                {"observations": {"mystery": {"params": {}}, "riddle": {"params": {}}}},
                "LP822",
                "sizes",
            ),
            ({"observations": {"base_ang_vel": {"params": {}, "scale": [1.0]}}}, "LP824", "has 24"),
        ],
    )
    def test_bad_files_are_refused(
        self, tmp_path: Path, other: dict[str, Any], code: str, said: str
    ) -> None:
        file = Policy(24, 3).write(tmp_path / "policy.onnx", {})
        with pytest.raises(leapp.LeappValueError) as caught:
            leapp.import_onnx(file, tmp_path / "g1", write(tmp_path, deploy(**other)))
        assert (caught.value.code, said in str(caught.value)) == (code, True), caught.value
        assert not (tmp_path / "g1").exists()

    def test_a_file_that_is_none_of_them(self, tmp_path: Path) -> None:
        file = Policy(24, 3).write(tmp_path / "policy.onnx", {})
        with pytest.raises(leapp.LeappValueError, match="neither") as caught:
            leapp.import_onnx(file, tmp_path / "g1", write(tmp_path, {"hello": "world"}))
        assert caught.value.code == "LP821"
        with pytest.raises(leapp.LeappNotFoundError):
            leapp.import_onnx(file, tmp_path / "g1", tmp_path / "nothing.yaml")


def config(**other: Any) -> dict[str, Any]:
    """Return a policy of rl_sar: 4 joints, the last a wheel; 3 + 3 + 3 + 4 + 4 + 4 = 21 values a
    frame.
    """
    return {
        "model_name": "policy.onnx",
        "num_observations": 21,
        "observations": ["ang_vel", "gravity_vec", "commands", "dof_pos", "dof_vel", "actions"],
        "observations_history": [2, 1, 0],
        "observations_history_priority": "time",
        "clip_obs": 1.5,
        "clip_actions_lower": [-0.4] * 4,
        "clip_actions_upper": [0.5] * 4,
        "rl_kp": [20.0, 21.0, 22.0, 0.0],
        "rl_kd": [0.5, 0.6, 0.7, 0.8],
        "num_of_dofs": 4,
        "action_scale": [0.125, 0.25, 0.25, 5.0],
        "wheel_indices": [3],
        "ang_vel_scale": 0.25,
        "dof_pos_scale": 1.0,
        "dof_vel_scale": 0.05,
        "commands_scale": [2.0, 2.0, 0.25],
        "default_dof_pos": [0.1, 0.8, -1.5, 0.0],
        "joint_mapping": [1, 0, 2, 3],
        **other,
    }


def write_rl_sar(folder: Path, document: dict[str, Any], *, base: bool = True) -> Path:
    """Write policy/dog/base.yaml and policy/dog/robot_lab/config.yaml."""
    file = folder / "policy" / "dog" / "robot_lab" / "config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(yaml.safe_dump({"dog/robot_lab": document}))
    if base:
        names = ["hip", "thigh", "calf", "wheel"]
        above = {"dog": {"dt": 0.005, "decimation": 4, "joint_names": names}}
        (file.parent.parent / "base.yaml").write_text(yaml.safe_dump(above))
    return file


class TestRlSar:
    SIZES: ClassVar = {
        "ang_vel": 3,
        "projected_gravity": 3,
        "commands": 3,
        "joint_pos": 4,
        "joint_vel": 4,
    }

    @pytest.mark.parametrize(
        ("priority", "history"), [("time", [2, 1, 0]), ("term", [2, 1, 0]), ("time", [0, 2])]
    )
    def test_fifty_ticks(self, tmp_path: Path, priority: str, history: list[int]) -> None:
        document = config(observations_history=history, observations_history_priority=priority)
        policy = Policy(21 * len(history), 4)
        file = policy.write(tmp_path / "policy.onnx", {})
        imported = leapp.import_onnx(file, tmp_path / "dog", write_rl_sar(tmp_path, document))
        assert imported.format == "rl_sar"
        robot = leapp.InferenceManager(imported.yaml, array="numpy")
        stack = Stack([history] * 6, time_major=priority == "time", backfill=False)
        rng = np.random.default_rng(2)
        pose = np.array([0.1, 0.8, -1.5, 0.0])
        swap = [1, 0, 2, 3]  # its own inverse
        action = np.zeros(4, np.float32)
        for _ in range(TICKS):
            inputs = random_inputs(rng, self.SIZES)
            outputs = robot.run_policy(inputs)
            seen = given(inputs)
            dof_pos = (seen["joint_pos"][swap] - pose) * [1, 1, 1, 0]
            frame = [
                seen["ang_vel"] * 0.25,
                seen["projected_gravity"],
                seen["commands"] * [2.0, 2.0, 0.25],
                dof_pos,
                seen["joint_vel"][swap] * 0.05,
                action,
            ]
            action = np.clip(
                policy(stack([np.clip(term, -1.5, 1.5) for term in frame]))[0], -0.4, 0.5
            )
            scaled = action * [0.125, 0.25, 0.25, 5.0]
            target = (scaled + pose)[swap]
            np.testing.assert_allclose(outputs["act/joint_pos_target"][0], target[:3], atol=2e-6)
            np.testing.assert_allclose(outputs["act/joint_vel_target"][0], scaled[3:], atol=2e-6)
        np.testing.assert_allclose(outputs["act/kp"], [[21, 20, 22, 0]])
        configs = yaml.safe_load(imported.yaml.read_text())["pipeline"]["configs"]
        assert configs["frequency"] == 50
        assert configs["default_pose"] == {"hip": 0.8, "thigh": 0.1, "calf": -1.5, "wheel": 0}

    def test_without_a_base(self, tmp_path: Path) -> None:
        file = Policy(63, 4).write(tmp_path / "policy.onnx", {})
        imported = leapp.import_onnx(
            file, tmp_path / "dog", write_rl_sar(tmp_path, config(), base=False)
        )
        assert any("base.yaml" in note for note in imported.notes)
        assert any("frequency" in note for note in imported.notes)

    @pytest.mark.parametrize(
        ("other", "code", "said"),
        [
            ({"observations_history_priority": "space"}, "LP823", "time or term"),
            ({"observations_history": [5000]}, "LP823", "whole numbers"),
            ({"observations_history": [4000]}, "LP823", "below 1000"),
            ({"joint_mapping": [0, 1, 2]}, "LP823", "each once"),
            ({"wheel_indices": [9]}, "LP823", "4 joints"),
            ({"rl_kp": [1.0, 2.0]}, "LP823", "expected 4"),
            ({"clip_obs": None}, "LP822", "'clip_obs' is missing"),
            ({"num_observations": 45}, "LP824", "num_observations is 45"),
            ({"num_of_dofs": 5}, "LP823", "joint_mapping"),
            ({"action_scale": ["a"] * 4}, "LP823", "finite number"),
        ],
    )
    def test_bad_files_are_refused(
        self, tmp_path: Path, other: dict[str, Any], code: str, said: str
    ) -> None:
        file = Policy(63, 4).write(tmp_path / "policy.onnx", {})
        with pytest.raises(leapp.LeappValueError) as caught:
            leapp.import_onnx(file, tmp_path / "dog", write_rl_sar(tmp_path, config(**other)))
        assert (caught.value.code, said in str(caught.value)) == (code, True), caught.value
        assert not (tmp_path / "dog").exists()
