"""``leapp.import_onnx``: bundles out of policies of other projects, against what their own
controllers compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import onnx
import pytest
import yaml
from foreign_policies import Policy, Stack, csv, write_exploy, write_recurrent
from onnx import helper

import leapp

Array = Any
TICKS = 50
JOINTS = ["hip", "thigh", "calf"]
POSE = [0.1, 0.8, -1.5]


def run(bundle: Path) -> Any:
    return leapp.InferenceManager(bundle, array="numpy")


def sensed(rng: np.random.Generator, **sizes: int) -> dict[str, Array]:
    """Random measurements of those sizes, by port of ``observe``."""
    return {
        f"observe/{name}": rng.standard_normal((1, size)).astype(np.float32)
        for name, size in sizes.items()
    }


def port(bundle: Path, node: str, name: str) -> dict[str, Any]:
    model = yaml.safe_load(bundle.read_text())["models"][node]
    return next(one for one in [*model["inputs"], *model["outputs"]] if one["name"] == name)


def mjlab_metadata(**other: str) -> dict[str, str]:
    """Five terms of 3 joints: 3 + 3 x 3 + 3 + 2 x 3 + 3 = 24 values."""
    return {
        "run_path": "local",
        "joint_names": csv(JOINTS),
        "joint_stiffness": csv([20.0, 21.0, 22.0]),
        "joint_damping": csv([0.5, 0.6, 0.7]),
        "default_joint_pos": csv(POSE),
        "command_names": csv(["twist"]),
        "observation_names": csv(["base_ang_vel", "joint_pos", "joint_vel", "actions", "command"]),
        "observation_terms_scale": csv([0.25, 1.0, 0.05, 1.0, [2.0, 2.0, 0.5]]),
        "observation_terms_clip": csv([[-np.inf, np.inf], [-0.5, 0.6], *[[-np.inf, np.inf]] * 3]),
        "observation_terms_history_length": csv([0, 3, 0, 2, 0]),
        "observation_terms_flatten_history_dim": csv([True] * 5),
        "action_scale": csv([0.25, 0.3, 0.35]),
        **other,
    }


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

    def test_the_bundle_says_what_its_ports_mean(self, tmp_path: Path) -> None:
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
        with pytest.raises(leapp.LeappValueError, match="action_joint_names") as caught:
            leapp.import_onnx(file, tmp_path / "go")
        assert caught.value.code == "LP822"
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
    with pytest.raises(leapp.LeappValueError, match="'body_pos_w' has the shape") as caught:
        leapp.import_onnx(file, tmp_path / "dance")
    assert caught.value.code == "LP824"


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

    def test_what_the_file_lacks_is_named_key_by_key(self, tmp_path: Path) -> None:
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
        with pytest.raises(leapp.LeappValueError, match="'default_joint_pos' is missing"):
            leapp.import_onnx(file, tmp_path / "loco", settings=settings)
        metadata["default_dof_pos"] = json.dumps(POSE)
        file = Policy(60, 3).write(tmp_path / "b.onnx", metadata, obs="actor_obs")
        assert leapp.import_onnx(file, tmp_path / "loco", settings=settings).format == "holosoma"
        metadata["action_contract"] = json.dumps("absolute_target_v1")
        file = Policy(60, 3).write(tmp_path / "c.onnx", metadata, obs="actor_obs")
        with pytest.raises(leapp.LeappValueError, match="action_contract") as caught:
            leapp.import_onnx(file, tmp_path / "loco", settings=settings)
        assert caught.value.code == "LP824"

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


def test_exploy_needs_nothing_computed(tmp_path: Path) -> None:
    metadata = {
        "exploy_version": "0.1.0",
        "update_rate": 10.0,
        "obj.dog.joints": {"joint_names": ["hip", "knee"]},
        "output.joint_targets.legs": {
            "names": ["hip", "knee"],
            "stiffness": [1.0, 2.0],
            "damping": [0.1, 0.2],
        },
    }
    file = write_exploy(
        tmp_path / "policy.onnx", {key: json.dumps(value) for key, value in metadata.items()}
    )
    imported = leapp.import_onnx(file, tmp_path / "dog")
    assert imported.format == "exploy"
    assert yaml.safe_load(imported.yaml.read_text())["pipeline"]["configs"] == {"frequency": 10}
    angular = port(imported.yaml, "policy", "obj.dog.base.ang_vel_b_rt_w_in_b")
    assert (angular["kind"], angular["frame"]) == ("state/body/angular_velocity", "base")
    robot = run(imported.yaml)
    rng = np.random.default_rng(5)
    memory = np.zeros(2)
    for step in range(TICKS):
        q, v = rng.standard_normal((2, 1, 2)).astype(np.float32)
        w = rng.standard_normal((1, 3)).astype(np.float32)
        outputs = robot.run_policy(
            {
                "policy/obj.dog.joints.pos": q,
                "policy/obj.dog.joints.vel": v,
                "policy/obj.dog.base.ang_vel_b_rt_w_in_b": w,
            }
        )
        np.testing.assert_allclose(
            outputs["act/joint_pos_target"][0], q[0] + memory + 0.01 * step, atol=1e-5
        )
        memory = 0.5 * memory + w[0, :2]
    np.testing.assert_allclose(outputs["act/kp"], [[1, 2]])
    np.testing.assert_allclose(outputs["act/kd"], [[0.1, 0.2]], rtol=1e-6)


def changed(**other: str | None) -> dict[str, str]:
    return {key: value for key, value in {**mjlab_metadata(), **other}.items() if value is not None}


class TestBadMetadata:
    @pytest.mark.parametrize(
        ("metadata", "code", "said"),
        [
            ({}, "LP821", "none at all"),
            ({"author": "me"}, "LP821", "its keys are: author"),
            (changed(default_joint_pos=None), "LP822", "'default_joint_pos' is missing"),
            (changed(action_scale=None), "LP822", "'action_scale' is missing"),
            (changed(default_joint_pos="0.1,nan,0.3"), "LP823", "'nan'"),
            (changed(joint_stiffness="1,inf,3"), "LP823", "'inf'"),
            (changed(joint_damping="1.0,2.0"), "LP823", "has 2 values, expected 3"),
            (changed(joint_names="hip,hip,calf"), "LP823", "'hip' twice"),
            (changed(joint_names="hip,,calf"), "LP823", "an empty value"),
            (changed(joint_names=",".join(["a"] * 5000)), "LP823", "5000 values"),
            (changed(action_scale="0.000,0.1,0.1"), "LP823", "three decimals"),
            (changed(observation_terms_scale="0.000,1,1,1,1"), "LP823", "three decimals"),
            (changed(observation_terms_clip="1;-1,0;1,0;1,0;1,0;1"), "LP823", "lower end"),
            (changed(observation_terms_clip="1,2,3,4,5"), "LP823", "two numbers"),
            (changed(observation_terms_history_length="-1,0,0,0,0"), "LP823", "history"),
            (changed(observation_terms_history_length="1e9,0,0,0,0"), "LP823", "history"),
            (changed(observation_terms_history_length="0.5,0,0,0,0"), "LP823", "history"),
            (changed(observation_names="a,b,c,d,e"), "LP822", "'observation_sizes'"),
            (changed(observation_terms_history_length="0,9,0,0,0"), "LP824", "has 24"),
            (changed(observation_names="base_ang_vel,base_ang_vel"), "LP823", "twice"),
        ],
    )
    def test_is_refused_and_nothing_written(
        self, tmp_path: Path, metadata: dict[str, str], code: str, said: str
    ) -> None:
        Policy(24, 3).write(tmp_path / "policy.onnx", metadata)
        with pytest.raises(leapp.LeappValueError) as caught:
            leapp.import_onnx(tmp_path / "policy.onnx", tmp_path / "go")
        assert (caught.value.code, said in str(caught.value)) == (code, True), caught.value
        assert not (tmp_path / "go").exists()

    def test_a_failed_import_leaves_the_former_one(self, tmp_path: Path) -> None:
        good = Policy(24, 3).write(tmp_path / "good.onnx", mjlab_metadata())
        yaml_file = leapp.import_onnx(good, tmp_path / "go").yaml
        before = yaml_file.read_bytes()
        bad = Policy(24, 3).write(tmp_path / "bad.onnx", {})
        with pytest.raises(leapp.LeappValueError):
            leapp.import_onnx(bad, tmp_path / "go")
        assert yaml_file.read_bytes() == before

    def test_settings_that_nobody_asks_for(self, tmp_path: Path) -> None:
        file = Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata())
        with pytest.raises(leapp.LeappValueError, match="nothing here asks for") as caught:
            leapp.import_onnx(file, tmp_path / "go", settings={"joint_name": "a"})
        assert caught.value.code == "LP003"
        with pytest.raises(leapp.LeappTypeError):
            leapp.import_onnx(file, tmp_path / "go", settings={"frequency": 50})  # type: ignore[dict-item]

    def test_an_old_opset(self, tmp_path: Path) -> None:
        file = Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata(), opset=12)
        with pytest.raises(leapp.LeappValueError, match="opset 12") as caught:
            leapp.import_onnx(file, tmp_path / "go")
        assert caught.value.code == "LP824"

    def test_whatever_stands_there_it_is_an_error_or_a_bundle(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(6)
        pieces = [
            "",
            ",",
            ";",
            "[",
            "]",
            "nan",
            "-inf",
            "1e400",
            "0.000",
            "-1",
            "\x1b",
            "\n",
            "9" * 40,
        ]
        model = onnx.load(Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata()))
        codes = set()
        for _ in range(150):
            metadata = mjlab_metadata()
            for key in rng.choice(list(metadata), 2):
                text = metadata[key]
                at = int(rng.integers(len(text) + 1))
                cut = int(rng.integers(len(text) + 1 - at))
                metadata[str(key)] = text[:at] + str(rng.choice(pieces)) + text[at + cut :]
            helper.set_model_props(model, metadata)
            onnx.save(model, tmp_path / "policy.onnx")
            try:
                leapp.import_onnx(tmp_path / "policy.onnx", tmp_path / "go")
            except leapp.LeappValueError as error:
                codes.add(error.code)
        assert codes >= {"LP823"}
        assert codes <= {"LP821", "LP822", "LP823", "LP824", "B5", "B10"}, codes
