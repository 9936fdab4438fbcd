"""Isaac Lab: its exporter works with this package, and its consumers read the bundles.

``isaaclab_export.py`` makes the exporter's calls in a separate process. The readers here follow
the rules of the programs that read such bundles, key by key.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

import leapp

yaml = pytest.importorskip("yaml")

EXPORTER = Path(__file__).with_name("isaaclab_export.py")
TASK = "Isaac-Velocity-Flat-Biped-v0"


class Export(NamedTuple):
    """A bundle, with the inputs and outputs of the simulated policy while it was traced."""

    yaml: Path
    text: dict[str, Any]
    steps: list[dict[str, Any]]


@pytest.fixture(scope="module", params=["onnx", "onnx-dynamo", "jit"])
def export(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Export:
    folder = tmp_path_factory.mktemp("isaaclab")
    command = [sys.executable, EXPORTER, request.param, folder]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    printed = json.loads(result.stdout.splitlines()[-1])
    assert printed["report"] == {TASK: True}
    path = folder / "biped" / "biped.yaml"
    return Export(path, yaml.safe_load(path.read_text()), printed["steps"])


class Articulation:
    """The scene's robot, with everything that Isaac Lab's deployment reads."""

    joint_names = ("hip", "knee", "ankle")

    def __init__(self) -> None:
        self.data: dict[str, torch.Tensor] = {}
        self.written: dict[str, tuple[torch.Tensor, Any]] = {}

    def joints(self, element_names: Any) -> list[int] | None:
        """Return the indices of the joints that the first named axis lists, or None for all of
        them.
        """
        names = element_names[0]
        assert isinstance(names, list)
        if not set(names) & set(self.joint_names) or names == list(self.joint_names):
            return None
        return [self.joint_names.index(name) for name in names]


class Deployment:
    """Runs a bundle by its connections, like LeappDeploymentEnv."""

    def __init__(self, path: Path) -> None:
        self.inference = leapp.InferenceManager(str(path))
        self.robot = Articulation()
        self.commands: dict[str, torch.Tensor] = {}
        self.pipeline = yaml.safe_load(path.read_text())["pipeline"]

    def ports(self, side: str) -> dict[str, tuple[list[str], Any]]:
        """Return connection and element names of each port of the pipeline."""
        found = {}
        for node, names in self.pipeline[side].items():
            ports = getattr(self.inference.nodes[node], f"{side[:-1]}_descriptions")
            by_name = {port["name"]: port for port in ports}
            for name in names:
                port = by_name[name]
                parts = port["isaaclab_connection"].split(":")
                found[f"{node}/{name}"] = (parts, port.get("element_names"))
        return found

    def step(self) -> None:
        inputs = {}
        for key, ((kind, *rest), names) in self.ports("inputs").items():
            if kind == "command":
                inputs[key] = self.commands[rest[0]]
                continue
            assert (kind, rest[0]) == ("state", "robot")
            value, joints = self.robot.data[rest[1]], self.robot.joints(names)
            inputs[key] = value if joints is None else value[:, joints]
        outputs = self.inference.run_policy(inputs)
        for key, ((kind, entity, method), names) in self.ports("outputs").items():
            assert (kind, entity) == ("write", "robot")
            self.robot.written[method] = (outputs[key], self.robot.joints(names))


class TestDeployment:
    def test_acts_as_the_policy_did(self, export: Export) -> None:
        deployment = Deployment(export.yaml)
        for _ in range(2):
            for step in export.steps:
                data = {name: torch.tensor(value) for name, value in step["data"].items()}
                deployment.commands["base_velocity"] = data.pop("command")
                deployment.robot.data = data
                deployment.step()
                target, joints = deployment.robot.written["set_joint_position_target_index"]
                assert joints == [0, 2]
                torch.testing.assert_close(target, torch.tensor(step["target"]))
            deployment.inference.reset()

    def test_writes_the_gains(self, export: Export) -> None:
        deployment = Deployment(export.yaml)
        deployment.robot.data = {
            name: torch.tensor(value) for name, value in export.steps[0]["data"].items()
        }
        deployment.commands["base_velocity"] = deployment.robot.data.pop("command")
        deployment.step()
        written = deployment.robot.written
        assert written["write_joint_stiffness_to_sim_index"][0].tolist() == [[40.0, 40.0]]
        assert written["write_joint_damping_to_sim_index"][0].tolist() == [[2.0, 2.0]]

    def test_requirements_of_the_controller(self, export: Export) -> None:
        configs = export.text["pipeline"]["configs"]
        assert configs["frequency"] == 50.0
        owned = configs["isaaclab"]["controller_owned_writes"]
        assert owned["schema_version"] == 1
        (requirement,) = owned["requirements"]
        assert requirement == {
            "capability": "gravity_compensation",
            "source_term": "joint_pos",
            "kind": "target/joint/effort",
            "element_names": [["hip", "ankle"]],
            "cadence": "action_apply",
            "isaaclab_connection": "write:robot:set_joint_effort_target_index",
        }


class TestKeys:
    """The reader in C++ on the robot, its Triton writer, and the sim-to-sim reader."""

    def test_names_of_states(self, export: Export) -> None:
        flow = export.text["pipeline"]["feedback_flow"]
        states = {wire.partition("/")[2].removesuffix("_out") for wire in flow}
        expected = {"last_action", "h_policy_base_ang_vel", "actor_state_0", "actor_state_1"}
        assert states == expected

    def test_every_port(self, export: Export) -> None:
        (model,) = export.text["models"].values()
        assert {"model_path", "backend"} <= set(model["parameters"])
        for side in ("inputs", "outputs"):
            for port in model[side]:
                assert {"name", "shape", "dtype"} <= set(port)
                assert port["dtype"] == "float32"

    def test_kinds(self, export: Export) -> None:
        (model,) = export.text["models"].values()
        kinds = {
            port["name"]: port["kind"]
            for side in ("inputs", "outputs")
            for port in model[side]
            if "isaaclab_connection" in port
        }
        assert kinds == {
            "robot_root_quat_w": "state/body/rotation",
            "robot_joint_pos": "state/joint/position",
            "robot_root_ang_vel_b": "state/body/angular_velocity",
            "base_velocity": "command/body/velocity",
            "joint_pos": "target/joint/position",
            "joint_pos_kp_gains": "kp",
            "joint_pos_kd_gains": "kd",
        }

    def test_names_are_of_one_axis_aligned_to_the_right(self, export: Export) -> None:
        (model,) = export.text["models"].values()
        named = [
            port
            for side in ("inputs", "outputs")
            for port in model[side]
            if "element_names" in port
        ]
        assert len(named) == 7
        for port in named:
            # The reader expects a vector<string> for each axis; null is not one.
            axes = port["element_names"]
            assert all(isinstance(axis, list) for axis in axes)
            assert len(axes[-1]) == port["shape"][-1]
            assert isinstance(axes[0], list) and axes[0]

    def test_every_external_input_has_a_connection(self, export: Export) -> None:
        (model,) = export.text["models"].values()
        ports = {port["name"]: port for port in model["inputs"]}
        (names,) = export.text["pipeline"]["inputs"].values()
        assert all("isaaclab_connection" in ports[name] for name in names)
        assert "system information" in export.text

    def test_initial_values_by_their_target(self, export: Export) -> None:
        safetensors = pytest.importorskip("safetensors")
        pipeline = export.text["pipeline"]
        targets = {wire for wires in pipeline["feedback_flow"].values() for wire in wires}
        path = export.yaml.parent / pipeline["initial_values"]
        with safetensors.safe_open(path, "pt") as file:
            assert set(file.keys()) == targets

    def test_the_nodes_device(self, export: Export) -> None:
        manager = leapp.InferenceManager(str(export.yaml))
        assert manager.nodes[TASK].device == "cpu"

    def test_unknown_keys_are_ignored(self, export: Export) -> None:
        articulation = {
            "joint_names": ["hip", "knee", "ankle"],
            "default_joint_pos": [0.1, -0.4, 0.2],
        }
        agile = {"agile": {"articulations": {"robot": articulation}}}
        path = export.yaml.with_name("extended.yaml")
        path.write_text(yaml.safe_dump({**export.text, **agile}))
        manager = leapp.InferenceManager(str(path))
        assert manager.run_policy(manager.get_mock_input()).keys() == set(manager.outputs)
