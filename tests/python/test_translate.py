"""`leapp translate` on a bundle that was not exported here."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ready_bundle import Bundle
from test_inference_cli import COMMAND
from test_inference_cli import leapp as command

import leapp
from leapp import InferenceManager


class Normalise(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - 0.5) * 2.0


class Policy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.tanh(self.layer(x) + h)
        return y, 0.5 * y


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return the YAML of a pipeline of two TorchScript nodes, one with state."""
    folder = tmp_path / "walker"
    folder.mkdir()
    for name, module in (("pre", Normalise()), ("policy", Policy())):
        torch.jit.script(module).save(folder / f"{name}.pt")
    made = Bundle(folder).node("pre", folder / "pre.pt", ["x"], ["y"])
    made.node("policy", folder / "policy.pt", ["x", "h"], ["y", "h"]).wire("pre/y", "policy/x")
    made.feedback("policy/h", "policy/h").input("pre", "x").output("policy", "y")
    return Path(made.write())


def run(bundle: Path, **options: Any) -> list[np.ndarray]:
    """Return the actions of five ticks."""
    manager = InferenceManager(bundle, **options)
    inputs = np.random.default_rng(0).normal(size=(5, 1, 4)).astype(np.float32)
    return [manager.run_policy({"pre/x": x})["policy/y"] for x in inputs]


def test_translates_and_merges(bundle: Path) -> None:
    before = run(bundle)
    report = json.loads(command("translate", bundle, "--json").stdout)
    assert report["changed"] is True
    assert report["nodes"] == [
        {"node": "pre", "translated": True},
        {"node": "policy", "translated": True},
    ]
    assert report["merged"] == [["pre", "policy"]]
    assert InferenceManager(bundle).description != InferenceManager(bundle, merge=False).description
    for a, b in zip(before, run(bundle), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    for a, b in zip(before, run(bundle, merge=False, translate=False), strict=True):
        np.testing.assert_array_equal(a, b)  # the TorchScript model is unchanged


def test_a_second_time_adds_nothing(bundle: Path) -> None:
    command("translate", bundle)
    files = {file.name: file.read_bytes() for file in bundle.parent.iterdir()}
    report = json.loads(command("translate", bundle, "--json").stdout)
    assert report["changed"] is False
    assert {file.name: file.read_bytes() for file in bundle.parent.iterdir()} == files


def test_a_broken_file_changes_nothing(bundle: Path) -> None:
    (bundle.parent / "pre.pt").write_bytes(b"no model")
    files = {file.name: file.read_bytes() for file in bundle.parent.iterdir()}
    report = json.loads(command("translate", bundle, "--json", code=1).stdout)
    assert report["code"] == "B21"
    assert {file.name: file.read_bytes() for file in bundle.parent.iterdir()} == files


def test_needs_the_tracing_library(bundle: Path, tmp_path: Path) -> None:
    library = Path(leapp.__file__).parent / "lib"
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    program = shutil.copy(COMMAND or "", tmp_path / "bin/leapp")
    for name in ("runtime", "tools"):
        for file in library.glob(f"libleapp_{name}.so*"):
            shutil.copy(file, tmp_path / "lib")
    done = subprocess.run([program, "translate", bundle, "--json"], capture_output=True, text=True)
    assert done.returncode == 3
    assert json.loads(done.stdout)["code"] == "LP612"
