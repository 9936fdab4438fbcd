"""Golden traces: kept by compile_graph, replayed by the runtime and the command."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import annotate

LEAPP = Path(os.environ.get("LEAPP_BUILD", "build/release")) / "bin" / "leapp"


class Walker:
    """Two nodes: an action that is fed back, and an undeclared state."""

    def __init__(self, backend: str = "onnx") -> None:
        self.h = torch.zeros(1, 3)
        self.action = torch.zeros(1, 2)
        self.layer = torch.nn.Linear(5, 3)
        self.head = torch.nn.Linear(3, 2)
        self.backend = backend

    def step(self, joints: torch.Tensor) -> None:
        sensed = {"joints": joints, "last": self.action}
        joints, last = annotate.input_tensors("observe", sensed)
        obs = torch.cat([joints, last], -1)
        annotate.output_tensors("observe", {"obs": obs}, export_with=self.backend)
        obs = annotate.input_tensors("policy", {"obs": obs})
        self.h = torch.tanh(self.layer(obs) + self.h)
        self.action = self.head(self.h)
        annotate.output_tensors("policy", {"action": self.action}, export_with=self.backend)


def export(bench: Workbench, passes: int = 4, backend: str = "onnx", **options: Any) -> Path:
    walker = Walker(backend)
    with torch.no_grad(), bench.trace():
        for _ in range(passes):
            walker.step(torch.randn(1, 3))
    bench.compile(**options)
    return bench.path("g", "g.yaml")


def test_ticks_are_kept_and_repeated(bench: Workbench, backend: str) -> None:
    export(bench, golden=3, backend=backend)
    golden = bench.yaml()["pipeline"]["golden"]
    assert golden == "g_golden.safetensors"
    manager = bench.manager()
    manager.run_policy(manager.get_mock_input())
    state = manager.state()
    verification = manager.verify()
    assert verification.passed and verification.ticks == 3, str(verification)
    assert {check["tick"] for check in verification.checks} == {0, 1, 2}
    assert {check["run"] for check in verification.checks} == {"node", "pipeline"}
    ports = {check["port"] for check in verification.checks}
    assert {"observe/obs", "policy/action"} <= ports
    for port, value in manager.state().items():
        assert torch.equal(value, state[port])


def test_the_file_has_inputs_outputs_and_state_of_every_tick(bench: Workbench) -> None:
    export(bench, golden=2)
    safetensors = pytest.importorskip("safetensors.numpy")
    tensors = safetensors.load_file(bench.path("g", "g_golden.safetensors"))
    names = set(tensors)
    for tick in (0, 1):
        assert {f"{tick}/inputs/observe/joints", f"{tick}/outputs/policy/action"} <= names
    state = [name for name in names if name.startswith("0/inputs/policy/") and "obs" not in name]
    assert len(state) == 1 and not np.any(tensors[state[0]])


def test_none_are_kept_by_default(bench: Workbench) -> None:
    export(bench)
    assert "golden" not in bench.yaml()["pipeline"]
    with refused("LP942"):
        bench.manager().verify()


def test_fewer_passes_than_requested_are_reported(bench: Workbench) -> None:
    export(bench, passes=2, golden=5)
    assert bench.manager().verify().ticks == 2
    assert [each.code for each in leapp.diagnostics()].count("LP943") == 1


def test_ticks_end_where_the_program_resets_its_state(bench: Workbench) -> None:
    walker = Walker()
    with torch.no_grad(), bench.trace():
        for i in range(4):
            if i == 2:
                walker.action = torch.ones(1, 2)
            walker.step(torch.randn(1, 3))
    bench.compile(golden=4)
    verification = bench.manager().verify()
    assert verification.ticks == 2 and verification.passed
    assert "LP943" in bench.codes()


def test_a_previous_export_leaves_no_traces(bench: Workbench) -> None:
    export(bench, golden=2)
    export(bench)
    assert not bench.path("g", "g_golden.safetensors").exists()


@pytest.mark.parametrize("golden", [True, "3", 1.5])
def test_a_number_of_ticks_is_wanted(bench: Workbench, golden: Any) -> None:
    with refused("LP002"):
        export(bench, golden=golden)


def test_a_negative_number_is_refused(bench: Workbench) -> None:
    with refused("LP003"):
        export(bench, golden=-1)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LEAPP, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not LEAPP.exists(), reason="the command was not built")
def test_the_command_reports_agreement_and_differences(bench: Workbench) -> None:
    yaml = export(bench, golden=3)
    done = run("verify", yaml)
    assert done.returncode == 0, done.stderr
    assert "ok    policy/action" in done.stdout
    assert "this machine repeats the 3 golden tick(s)" in done.stdout
    report = json.loads(run("verify", yaml, "--json").stdout)
    assert report["ok"] and report["ticks"] == 3
    assert all(check["difference"]["max"] < 1e-5 for check in report["checks"])


@pytest.mark.skipif(not LEAPP.exists(), reason="the command was not built")
def test_another_machine_that_computes_otherwise_fails(bench: Workbench) -> None:
    safetensors = pytest.importorskip("safetensors")
    numpy_file = pytest.importorskip("safetensors.numpy")
    yaml = export(bench, golden=3)
    file = bench.path("g", "g_golden.safetensors")
    with safetensors.safe_open(file, "np") as opened:
        metadata = opened.metadata()
    tensors = numpy_file.load_file(file)
    tensors["1/outputs/policy/action"] = tensors["1/outputs/policy/action"] + 1
    numpy_file.save_file(tensors, file, metadata)
    refused = run("verify", yaml)
    assert refused.returncode == 1 and "[B21] SHA256 checksum mismatch" in refused.stderr
    import hashlib

    text = yaml.read_text()
    for key, hasher in (("golden_sha256sum", hashlib.sha256), ("golden_md5sum", hashlib.md5)):
        former = bench.yaml()["pipeline"][key]
        text = text.replace(former, hasher(file.read_bytes()).hexdigest())
    yaml.write_text(text)
    done = run("verify", yaml)
    assert done.returncode == 1
    assert "WRONG policy/action" in done.stdout and "in tick 1" in done.stdout
    assert not json.loads(run("verify", yaml, "--json").stdout)["ok"]
    assert run("verify", bench.path("nowhere.yaml")).returncode == 1
