"""Noise ports in Python: tests/core/runtime/noise_filler_test.cpp has their rules one by one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused
from noise_reference import draw
from ready_bundle import Bundle
from safetensors.numpy import save_file

import leapp
from leapp import annotate

SEED = 2**64 - 3
X = {"policy/x": np.zeros((1, 4), np.float32)}


def write(folder: Path, distribution: str = "normal") -> str:
    """Write a bundle with y = x + noise, and half = y / 2."""
    bundle = Bundle(folder).node("policy", "recurrent.onnx", ["x", "h_in"], ["y", "h_out"])
    bundle.input("policy", "x", "h_in").output("policy", "y", "h_out")
    model = bundle.models["policy"]
    model["inputs"][1] |= {"kind": "noise", "noise": {"distribution": distribution}}
    model["parameters"]["backend"] = "leapp/onnx"
    return bundle.write()


def load(folder: Path, **options: Any) -> leapp.InferenceManager:
    return leapp.InferenceManager(write(folder), array="numpy", **options)


def expected(number: int, seed: int = SEED, distribution: str = "normal") -> list[list[float]]:
    return [draw(distribution, seed, 0, number, 4)]


@pytest.mark.parametrize("distribution", ["normal", "uniform"])
def test_ticks_read_what_the_reference_draws(tmp_path: Path, distribution: str) -> None:
    manager = leapp.InferenceManager(write(tmp_path, distribution), array="numpy", noise_seed=SEED)
    assert manager.inputs == ["policy/x"]
    assert manager.noise_inputs == ["policy/h_in"]
    assert list(manager.get_mock_input()) == ["policy/x"]
    for tick in range(3):
        outputs = manager.run_policy(X)
        assert outputs["policy/y"].tolist() == expected(tick, distribution=distribution)


def test_noise_can_be_given(tmp_path: Path) -> None:
    manager = load(tmp_path, noise_seed=SEED)
    ones = np.ones((1, 4), np.float32)
    assert manager.run_policy({**X, "policy/h_in": ones})["policy/y"].tolist() == ones.tolist()
    assert manager.run_policy(X)["policy/y"].tolist() == expected(1)
    manager.bind_input("policy/h_in", ones)
    assert manager.run_policy(X)["policy/y"].tolist() == ones.tolist()
    with refused("LP607", "policy/h_in"):
        manager.run_policy({**X, "policy/h_in": ones})
    manager.bind_input("policy/h_in", None)
    with refused("LP603", "policy/h_in"):
        manager.run_policy({**X, "policy/h_in": np.ones((1, 3), np.float32)})


def test_merging_keeps_the_noise(tmp_path: Path) -> None:
    (tmp_path / "apart").mkdir()
    bundle = Bundle(tmp_path / "apart")
    for name in ("late", "early"):  # the order of the bundle is not that of execution
        bundle.node(name, "recurrent.onnx", ["x", "h_in"], ["y", "h_out"])
        bundle.models[name]["inputs"][1] |= {"kind": "noise", "noise": {"distribution": "normal"}}
        bundle.models[name]["parameters"]["backend"] = "leapp/onnx"
    bundle.wire("early/y", "late/x").input("early", "x", "h_in").input("late", "h_in")
    bundle.output("early", "h_out").output("late", "y", "h_out")
    apart = leapp.InferenceManager(bundle.write(), array="numpy", noise_seed=5)
    subprocess.run(["leapp", "merge", tmp_path / "apart/test.yaml", tmp_path / "one"], check=True)
    merged = leapp.InferenceManager(tmp_path / "one/one.yaml", array="numpy", noise_seed=5)
    assert merged.noise_inputs == ["one/late.h_in", "one/early.h_in"]
    x = np.ones((1, 4), np.float32)
    for _ in range(2):
        expected = apart.run_policy({"early/x": x})["late/y"]
        assert merged.run_policy({"one/early.x": x})["one/late.y"].tolist() == expected.tolist()


def test_the_command_takes_a_seed(tmp_path: Path) -> None:
    bundle = write(tmp_path)
    save_file(X, tmp_path / "x.safetensors")
    for seed in (0, SEED):
        options = ["--input", str(tmp_path / "x.safetensors"), "--noise-seed", str(seed), "--json"]
        done = subprocess.run(
            ["leapp", "run", bundle, *options], capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout)["policy/y"]["values"]
        assert [np.float32(found).tolist()] == expected(0, seed)


def test_the_seed_can_change(tmp_path: Path) -> None:
    manager = load(tmp_path)
    assert manager.run_policy(X)["policy/y"].tolist() == expected(0, 0)
    manager.set_noise_seed(SEED)
    state = manager.state()
    assert manager.run_policy(X)["policy/y"].tolist() == expected(1)
    manager.set_state(state)
    assert manager.run_policy(X)["policy/y"].tolist() == expected(1)
    manager.reset()
    assert manager.run_policy(X)["policy/y"].tolist() == expected(0)
    with refused("LP003", "seed"):
        manager.set_noise_seed(-1)
    with refused("LP002", "seed"):
        manager.set_noise_seed(1.5)  # type: ignore[arg-type]
    with refused("LP003", "noise_seed"):
        load(tmp_path, noise_seed=2**64)


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_a_declared_draw_is_exported_as_a_noise_port(bench: Workbench, backend: str) -> None:
    layer = torch.nn.Linear(4, 4)
    with bench.trace():
        for _ in range(3):
            x, noise = annotate.input_tensors("pi", declared("normal"))
            annotate.output_tensors("pi", {"y": layer(noise) + x}, export_with=backend)
    assert bench.compile(golden=3) == {"pi": True}
    manager = bench.manager(array="numpy", noise_seed=SEED)
    assert manager.inputs == ["pi/x"]
    assert manager.noise_inputs == ["pi/noise"]
    assert manager.verify().passed
    x = torch.ones(1, 4)
    given = torch.tensor(expected(0))
    torch.testing.assert_close(
        torch.from_numpy(manager.run_policy({"pi/x": x.numpy()})["pi/y"]),
        (layer(given) + x).detach(),
    )


def test_an_unknown_distribution_is_refused(bench: Workbench) -> None:
    with bench.trace():
        x, noise = annotate.input_tensors("pi", declared("cauchy"))
        annotate.output_tensors("pi", {"y": x + noise}, export_with="jit")
    with refused("B44", "noise"):
        bench.compile()


def declared(distribution: str) -> list[leapp.TensorSemantics]:
    """Return an input, and a draw that is declared as noise."""
    return [
        leapp.TensorSemantics("x", torch.randn(1, 4)),
        leapp.TensorSemantics(
            "noise",
            torch.randn(1, 4),
            kind="noise",
            extra={"noise": {"distribution": distribution}},
        ),
    ]
