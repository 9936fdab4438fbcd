"""C++ nodes after the export: compiled, permitted, checked, run, and embedded in other programs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import end_session
from test_inference_cli import asked, leapp

import leapp as package
from leapp import InferenceManager, LeappError, annotate

pytestmark = pytest.mark.skipif(
    shutil.which("c++") is None, reason="there is no C++ compiler (apt-get install g++)"
)


class Net(torch.nn.Module):
    """Return the function that the policy of these tests computes."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(12, 70), torch.nn.ELU(), torch.nn.Linear(70, 4), torch.nn.Tanh()
        )

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.layers(obs)
        return out


def walk(net: Net, ticks: int) -> list[torch.Tensor]:
    """Two nodes with feedback of the action."""
    action, actions = torch.full((1, 4), 0.25), []
    for tick in range(ticks):
        given = {"joints": torch.linspace(-1, 1, 8).unsqueeze(0) * (tick + 1), "last": action}
        joints, last = annotate.input_tensors("observe", given)
        obs = torch.cat([joints.clamp(-5, 5) / 5, last], dim=-1)
        annotate.output_tensors("observe", {"obs": obs}, export_with="cpp")
        obs = annotate.input_tensors("policy", {"obs": obs})
        action = net(obs)
        annotate.output_tensors("policy", {"action": action}, export_with="cpp")
        actions.append(action)
    return actions


@torch.no_grad()
def export(folder: Path, seed: int = 0) -> Path:
    package.start("walker", save_path=str(folder))
    walk(Net(seed), 3)
    package.stop()
    package.compile_graph(visualize=False, validate=False)
    return folder / "walker" / "walker.yaml"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle that was not compiled."""
    return export(tmp_path_factory.mktemp("fresh"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, fresh: Path) -> Path:
    folder = tmp_path_factory.mktemp("built") / "walker"
    shutil.copytree(fresh.parent, folder)
    leapp("build", folder / "walker.yaml")
    return folder / "walker.yaml"


def copied(yaml: Path, folder: Path) -> Path:
    shutil.copytree(yaml.parent, folder / "walker")
    return folder / "walker" / "walker.yaml"


def refusal(yaml: Path, **options: bool) -> str:
    with pytest.raises(LeappError) as refused:
        InferenceManager(yaml, array="numpy", **options)
    return str(refused.value)


def actions_of(yaml: Path, ticks: int) -> list[np.ndarray]:
    manager = InferenceManager(yaml, array="numpy", allow_native=True)
    found = []
    for tick in range(ticks):
        joints = np.linspace(-1, 1, 8, dtype=np.float32)[None] * (tick + 1)
        found.append(manager.run_policy({"observe/joints": joints})["policy/action"])
    return found


class TestRunning:
    """The engine of compiled nodes."""

    def test_native_code_runs_only_if_it_is_allowed(self, built: Path) -> None:
        said = refusal(built)
        assert "[LP921]" in said
        assert "allow_native=True" in said
        assert "--allow-native" in said
        done = leapp("run", built, code=1)
        assert "[LP921]" in done.stderr

    def test_trust_in_other_formats_does_not_allow_it(self, built: Path) -> None:
        with pytest.raises(LeappError, match="LP921"):
            InferenceManager(built, trust="code")

    def test_without_a_build_the_command_is_named(self, fresh: Path) -> None:
        said = refusal(fresh, allow_native=True)
        assert "[LP922]" in said
        assert "leapp build" in said
        leapp("run", fresh, "--allow-native", code=3)

    @torch.no_grad()
    def test_it_computes_the_traced_values(self, built: Path) -> None:
        for found, expected in zip(actions_of(built, 20), walk(Net(0), 20), strict=True):
            np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=1e-5)

    def test_the_command_runs_it(self, built: Path) -> None:
        assert "policy/action" in asked("run", built, "--allow-native")

    def test_inspecting_needs_no_permission(self, built: Path) -> None:
        assert re.search(r"policy\b.*\bcpp\b", leapp("inspect", built).stdout)


class TestChecks:
    """The library is the one that was built, from the current sources of the bundle."""

    def test_another_export_makes_a_build_stale(self, tmp_path: Path) -> None:
        yaml = export(tmp_path)
        leapp("build", yaml)
        export(tmp_path, seed=1)
        said = refusal(yaml, allow_native=True)
        assert "[LP923]" in said
        assert "weights" in said

    def test_another_library_is_not_opened(self, built: Path, tmp_path: Path) -> None:
        yaml = copied(built, tmp_path)
        library = yaml.with_name("walker.native.so")
        library.write_bytes(library.read_bytes() + b"more")
        said = refusal(yaml, allow_native=True)
        assert "[LP923]" in said
        assert "checksum" in said

    def test_a_library_for_another_machine_is_named(self, built: Path, tmp_path: Path) -> None:
        import hashlib

        yaml = copied(built, tmp_path)
        record = yaml.with_name("walker.native.json")
        text = json.loads(record.read_text())
        other = b"\x7fELF no library of this machine"
        yaml.with_name("walker.native.so").write_bytes(other)
        text.update(sha256=hashlib.sha256(other).hexdigest(), target="riscv64-linux-gnu")
        record.write_text(json.dumps(text))
        said = refusal(yaml, allow_native=True)
        assert "[LP923]" in said
        assert "riscv64-linux-gnu" in said

    def test_the_record_lists_its_sources(self, built: Path) -> None:
        record = json.loads(built.with_name("walker.native.json").read_text())
        assert set(record["nodes"]) == {"observe", "policy"}
        assert len(record["nodes"]["policy"]["weights"]) == 64
        assert record["compiler"]
        assert record["target"]


class TestBuilding:
    """``leapp build``."""

    def test_it_reports_the_result(self, fresh: Path, tmp_path: Path) -> None:
        report = asked("build", fresh, "--out", tmp_path, "--flags", "-march=native")
        assert report["nodes"] == ["observe", "policy"]
        assert Path(report["library"]).is_file()
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "walker.native.json",
            "walker.native.so",
        ]

    def test_without_a_compiler_it_reports_an_error(self, fresh: Path, tmp_path: Path) -> None:
        done = leapp("build", fresh, "--out", tmp_path, "--cxx", "no-such-compiler", code=3)
        assert "no-such-compiler" in done.stderr
        assert "[LP903]" in done.stderr
        assert not list(tmp_path.iterdir())

    def test_compiler_errors_are_shown(self, fresh: Path, tmp_path: Path) -> None:
        done = leapp("build", fresh, "--out", tmp_path, "--flags", "--no-such-flag", code=3)
        assert "no-such-flag" in done.stderr
        assert not list(tmp_path.iterdir())

    def test_a_bundle_without_cpp_has_nothing_to_build(self, tmp_path: Path) -> None:
        from ready_bundle import Bundle

        bundle = Bundle(tmp_path).node("pre", "affine.onnx", ["x"], ["y"])
        yaml = bundle.input("pre", "x").output("pre", "y").write()
        assert "[LP924]" in leapp("build", yaml, code=1).stderr
        assert "[LP924]" in leapp("build", yaml, "--source", tmp_path / "s", code=1).stderr


def test_the_sources_of_a_policy_are_the_same_each_time(fresh: Path, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        leapp("build", fresh, "--source", tmp_path / folder)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    assert (tmp_path / "a" / "walker_policy.h").is_file()


@pytest.mark.parametrize(("weights", "bytes_each"), [("bf16", 2), ("int8", 1)])
@torch.no_grad()
def test_smaller_weights_are_measured(weights: str, bytes_each: int, tmp_path: Path) -> None:
    net = Net(0)
    package.start("walker", save_path=str(tmp_path))
    obs = annotate.input_tensors("policy", {"obs": torch.linspace(-1, 1, 12).unsqueeze(0)})
    annotate.output_tensors(
        "policy", {"y": net(obs)}, export_with="cpp", backend_params={"weights": weights}
    )
    package.stop()
    package.compile_graph(visualize=False)
    log = (tmp_path / "walker" / "log.txt").read_text()
    largest = re.search(r"policy/y was computed in bfloat16.*at most ([\d.e-]+)", log)
    assert largest is not None, log
    assert 0 < float(largest[1]) < 8e-3
    matrices = 12 * 70 + 70 * 4
    size = (tmp_path / "walker" / "policy.weights").stat().st_size
    assert matrices * bytes_each < size < matrices * (bytes_each + 1) + 1024
    leapp("build", tmp_path / "walker" / "walker.yaml")
    manager = InferenceManager(
        tmp_path / "walker" / "walker.yaml", array="numpy", allow_native=True
    )
    given = {"policy/obs": np.linspace(-1, 1, 12, dtype=np.float32)[None]}
    found = manager.run_policy(given)["policy/y"]
    assert np.abs(found - net(obs).numpy()).max() == pytest.approx(float(largest[1]), rel=0.01)


def test_weights_have_three_formats(tmp_path: Path) -> None:
    package.start("walker", save_path=str(tmp_path))
    x = annotate.input_tensors("pi", {"x": torch.ones(3)})
    with pytest.raises(LeappError, match="'float32', 'bf16' or 'int8'"):
        annotate.output_tensors(
            "pi", {"y": x * 2}, export_with="cpp", backend_params={"weights": "int4"}
        )
    end_session()


MAIN = """
#include <cstdio>
#include "walker_policy.h"
int main() {
  walker_policy::Policy& policy = walker_policy::Policy::instance();
  for (int round = 0; round < 2; ++round) {
    for (int tick = 0; tick < 5; ++tick) {
      for (int joint = 0; joint < 8; ++joint) {
        policy.observe_joints()[static_cast<std::size_t>(joint)] =
            (-1.0F + 2.0F * static_cast<float>(joint) / 7.0F) * static_cast<float>(tick + 1);
      }
      if (policy.tick() != nullptr) return 1;
      for (float value : policy.policy_action()) std::printf("%.7f ", static_cast<double>(value));
    }
    policy.reset();
  }
}
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@torch.no_grad()
def test_a_program_takes_the_policy_into_itself(compiler: str, fresh: Path, tmp_path: Path) -> None:
    """It compiles without warnings and runs with sanitizers, and reset() restarts it."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed (apt-get install {compiler.rstrip('+')})")
    leapp("build", fresh, "--source", tmp_path)
    (tmp_path / "main.cpp").write_text(MAIN)
    flags = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-O1"]
    if compiler == "g++":
        flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    sources = ["main.cpp", "walker_policy.cpp", "walker_nodes.cpp"]
    subprocess.run(
        [compiler, "-std=c++20", *flags, "-I.", *sources, "-o", "main"], cwd=tmp_path, check=True
    )
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = np.array(done.stdout.split(), dtype=np.float32).reshape(2, 5, 4)
    expected = torch.cat(walk(Net(0), 5)).numpy()
    for again in found:
        np.testing.assert_allclose(again, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("bundle", "node"),
    [("class", "policy"), ("int", "static"), ("abs", "関" * 27), ("g", "n" * 200)],
    ids=["class", "int", "27 CJK letters", "200 letters"],
)
def test_any_name_of_a_bundle_and_of_a_node_compiles(
    bundle: str, node: str, tmp_path: Path
) -> None:
    package.start(bundle, save_path=str(tmp_path))
    x = annotate.input_tensors(node, {"cast": torch.ones(3)})
    weight = torch.linspace(-1, 1, 9).reshape(3, 3)
    annotate.output_tensors(node, {"y": x @ weight}, export_with="cpp")
    package.stop()
    assert package.compile_graph(visualize=False) == {node: True}
    yaml = tmp_path / bundle / f"{bundle}.yaml"
    leapp("build", yaml)
    found = InferenceManager(yaml, array="numpy", allow_native=True).run_policy(
        {f"{node}/cast": np.ones(3, np.float32)}
    )
    np.testing.assert_allclose(found[f"{node}/y"], weight.sum(0).numpy(), atol=1e-6)
    leapp("build", yaml, "--source", tmp_path)
    for source in (f"{bundle}_policy.cpp", f"{bundle}_nodes.cpp"):
        command = ["g++", "-std=c++20", "-Wall", "-Werror", "-I.", "-c", source]
        subprocess.run(command, cwd=tmp_path, check=True)
