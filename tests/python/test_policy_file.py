"""``leapp import`` and ``leapp merge --policy`` on the command line: a round trip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from foreign_policies import JOINTS, POSE, Policy, csv, mjlab_metadata
from test_inference_cli import COMMAND, asked
from test_inference_cli import leapp as command

import leapp

Array = Any
pytestmark = pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")
NO_HISTORY = {"observation_terms_history_length": csv([0] * 5)}


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """Without histories: 15 values."""
    return Policy(15, 3).write(tmp_path / "policy.onnx", mjlab_metadata(**NO_HISTORY))


class TestImportCommand:
    def test_prints_its_files_and_assumptions(self, policy: Path, tmp_path: Path) -> None:
        said = command("import", policy, "-o", tmp_path / "go", "--set", "frequency=50").stdout
        assert said.startswith(f"wrote {tmp_path / 'go' / 'go.yaml'}, from mjlab\n")
        assert "note: lists in the file have three decimals" in said
        assert command("check", tmp_path / "go" / "go.yaml").returncode == 0

    def test_json(self, policy: Path, tmp_path: Path) -> None:
        found = asked("import", policy, "-o", tmp_path / "go")
        assert found["format"] == "mjlab"
        assert any("--set frequency" in note for note in found["notes"])

    def test_without_metadata_nothing_is_written(self, tmp_path: Path) -> None:
        file = Policy(15, 3).write(tmp_path / "plain.onnx", {})
        failed = asked("import", file, "-o", tmp_path / "go", code=1)
        assert failed["code"] == "LP821"
        assert not (tmp_path / "go").exists()

    def test_a_setting_without_a_value(self, policy: Path, tmp_path: Path) -> None:
        failed = command("import", policy, "-o", tmp_path / "go", "--set", "frequency", code=2)
        assert "KEY=VALUE" in failed.stderr


def run_both(first: Path, second: Path) -> None:
    """Run fifty ticks of two bundles on the same measurements."""
    one = leapp.InferenceManager(first, array="numpy")
    two = leapp.InferenceManager(second, array="numpy")
    rng = np.random.default_rng(0)
    for _ in range(50):
        inputs = {
            f"observe/{name}": rng.standard_normal((1, 3)).astype(np.float32)
            for name in ("base_ang_vel", "joint_pos", "joint_vel", "command")
        }
        expected, found = one.run_policy(inputs), two.run_policy(inputs)
        for name in ("act/joint_pos_target", "act/kp", "act/kd"):
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, atol=1e-5)


class TestPolicyFile:
    def test_out_and_in_again_is_the_same_policy(self, policy: Path, tmp_path: Path) -> None:
        command("import", policy, "-o", tmp_path / "go")
        out = tmp_path / "out.onnx"
        command("merge", tmp_path / "go" / "go.yaml", tmp_path / "one", "--policy", out)
        onnx.checker.check_model(onnx.load(out))
        command("import", out, "-o", tmp_path / "again" / "go")
        run_both(tmp_path / "go" / "go.yaml", tmp_path / "again" / "go" / "go.yaml")

    def test_metadata(self, policy: Path, tmp_path: Path) -> None:
        command("import", policy, "-o", tmp_path / "go")
        out = tmp_path / "out.onnx"
        found = asked("merge", tmp_path / "go" / "go.yaml", tmp_path / "one", "--policy", out)
        assert found["policy"] == str(out)
        metadata = {prop.key: prop.value for prop in onnx.load(out).metadata_props}
        assert metadata["joint_names"] == ",".join(JOINTS)
        assert metadata["observation_names"] == ("base_ang_vel,joint_pos,joint_vel,actions,command")
        assert metadata["command_names"] == "command"
        assert [float(value) for value in metadata["default_joint_pos"].split(",")] == POSE
        scale = [float(value) for value in metadata["action_scale"].split(",")]
        np.testing.assert_allclose(scale, [0.25, 0.3, 0.35], rtol=1e-5)
        # Metadata without which the readers of motion_tracking_controller and mjlab fail.
        assert metadata.keys() >= {
            "joint_stiffness",
            "joint_damping",
            "observation_history_lengths",
            "observation_terms_history_length",
            "run_path",
        }

    def test_a_bundle_with_other_state_is_refused(self, tmp_path: Path) -> None:
        file = Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata())
        command("import", file, "-o", tmp_path / "go")
        failed = asked(
            "merge", tmp_path / "go" / "go.yaml", tmp_path / "one", "--policy", "x.onnx", code=1
        )
        assert failed["code"] == "LP825"
        assert "joint_pos_history" in failed["error"] or "last action" in failed["error"]

    def test_a_target_that_is_not_a_scaled_action_is_refused(self, tmp_path: Path) -> None:
        metadata = mjlab_metadata(**NO_HISTORY)
        file = Policy(15, 3).write(tmp_path / "policy.onnx", metadata)
        yaml_file = leapp.import_onnx(file, tmp_path / "go").yaml
        text = yaml_file.read_text()
        assert "hip: 0.1" in text
        yaml_file.write_text(text.replace("hip: 0.1", "hip: 0.4"))
        failed = asked("merge", yaml_file, tmp_path / "one", "--policy", "x.onnx", code=1)
        assert failed["code"] == "LP825"
        assert "default_pose + scale * action" in failed["error"]

    @pytest.mark.parametrize(
        ("found", "instead", "said"),
        [
            ("kind: kp", "kind: gain", "no output of the kind 'kp'"),
            ("kind: kd", "kind: kp", "two outputs of the kind 'kp'"),
            ("kind: target/joint/position", "kind: other", "'target/joint/position'"),
            ("hip: 0.1", "leg: 0.1", "default_pose does not have 'hip'"),
            ("kind: state/joint/velocity", "kind: state/joint/position", "would be 'joint_pos'"),
        ],
    )
    def test_missing_semantics_are_named(
        self, policy: Path, tmp_path: Path, found: str, instead: str, said: str
    ) -> None:
        yaml_file = leapp.import_onnx(policy, tmp_path / "go").yaml
        text = yaml_file.read_text()
        assert found in text
        yaml_file.write_text(text.replace(found, instead))
        out = tmp_path / "x.onnx"
        failed = asked("merge", yaml_file, tmp_path / "one", "--policy", out, code=1)
        assert (failed["code"], said in failed["error"]) == ("LP825", True), failed
        assert not out.exists()

    def test_a_bundle_without_feedback_outputs_distances_from_the_pose(
        self, tmp_path: Path
    ) -> None:
        metadata = mjlab_metadata(
            observation_names="joint_pos",
            observation_terms_scale="1.000",
            observation_terms_clip="-inf;inf",
            observation_terms_history_length="0.000",
            observation_terms_flatten_history_dim="1.000",
        )
        policy = Policy(3, 3)
        yaml_file = leapp.import_onnx(
            policy.write(tmp_path / "policy.onnx", metadata), tmp_path / "go"
        ).yaml
        out = tmp_path / "out.onnx"
        command("merge", yaml_file, tmp_path / "one", "--policy", out)
        session = onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"])
        relative = np.array([[0.1, -0.2, 0.3]], np.float32)
        (actions,) = session.run(["actions"], {"obs": relative})
        np.testing.assert_allclose(actions, policy(relative) * [0.25, 0.3, 0.35], atol=1e-6)
