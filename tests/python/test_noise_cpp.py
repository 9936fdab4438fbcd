"""Noise ports in the C++ class of a policy: the same numbers as in a manager."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import Workbench
from test_inference_cli import leapp as command

from leapp import annotate

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None, reason="there is no C++ compiler (apt-get install g++)"
)
SEED = 2**63 + 5

MAIN = """
#include <cstdio>
#include "g_policy.h"
int main() {
  g_policy::Policy& policy = g_policy::Policy::instance();
  policy.set_noise_seed(%du);
  const auto run = [&] {
    for (float& x : policy.%s()) x = 0.5F;
    if (policy.tick() != nullptr) return false;
    for (float value : policy.%s()) std::printf("%%a ", static_cast<double>(value));
    return true;
  };
  for (int tick = 0; tick < 3; ++tick) {
    if (!run()) return 1;
  }
  policy.reset();
  if (!run()) return 1;
  policy.set_draws_noise(false);
  for (float& value : policy.%s()) value = 2;
  return run() ? 0 : 1;
}
"""


def compare(bench: Workbench, folder: Path, given: str, result: str, noise: str) -> None:
    """Run the class and a manager for the same five ticks, and compare their bits."""
    name = given.replace("/", "_"), result.replace("/", "_"), noise.replace("/", "_")
    command("build", bench.path("g", "g.yaml"), "--source", folder)
    (folder / "main.cpp").write_text(MAIN % (SEED, *name))
    flags = "-std=c++20 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -I.".split()
    sources = ["main.cpp", "g_policy.cpp", "g_nodes.cpp"]
    subprocess.run(["g++", *flags, *sources, "-o", "main"], cwd=folder, check=True)
    done = subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, check=True)
    found = np.array([float.fromhex(each) for each in done.stdout.split()], np.float32)

    command("build", bench.path("g", "g.yaml"))
    manager = bench.manager(array="numpy", noise_seed=SEED, allow_native=True)
    shapes = {
        f"{node}/{port['name']}": port["shape"]
        for node, model in bench.yaml()["models"].items()
        for port in model["inputs"]
    }
    inputs = {given: np.full(shapes[given], 0.5, np.float32)}
    ticks = [manager.run_policy(inputs)[result] for _ in range(3)]
    manager.reset()
    ticks.append(manager.run_policy(inputs)[result])
    fed = {**inputs, noise: np.full(shapes[noise], 2, np.float32)}
    ticks.append(manager.run_policy(fed)[result])
    expected = np.concatenate([tick.ravel() for tick in ticks])
    assert found.tobytes() == expected.tobytes()


def test_its_numbers_have_the_same_bits(bench: Workbench, tmp_path: Path) -> None:
    with bench.trace():
        for _ in range(3):
            x = annotate.input_tensors("pi", {"x": torch.rand(1, 7)})
            annotate.output_tensors("pi", {"y": x + torch.randn(1, 7)}, export_with="cpp")
    assert bench.compile() == {"pi": True}
    compare(bench, tmp_path, "pi/x", "pi/y", "pi/noise")


def test_each_run_of_a_repeat_draws(bench: Workbench, tmp_path: Path) -> None:
    with bench.trace():
        for _ in range(3):
            x = annotate.input_tensors("start", {"o": torch.rand(1, 4)})
            x = annotate.output_tensors("start", {"x": x + 1}, export_with="cpp")
            for _ in range(3):
                x = annotate.input_tensors("denoise", {"x": x})
                x = annotate.output_tensors(
                    "denoise", {"y": x + torch.rand(1, 4)}, export_with="cpp"
                )
            x = annotate.input_tensors("act", {"x": x})
            annotate.output_tensors("act", {"a": x * 2}, export_with="cpp")
    assert bench.compile() == {"start": True, "denoise": True, "act": True}
    compare(bench, tmp_path, "start/o", "act/a", "denoise/noise")
