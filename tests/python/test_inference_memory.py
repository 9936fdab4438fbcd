"""A loaded bundle needs little more memory than its weights."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from ready_bundle import Bundle

WIDTH, NODES = 1024, 4

#: Loads a small bundle first, so the engine itself is already loaded.
PROGRAM = """
import resource, sys
import leapp

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

small = leapp.InferenceManager(sys.argv[1], array="numpy")
small(small.get_mock_input())
before = resident()
large = leapp.InferenceManager(sys.argv[2], array="numpy", merge=sys.argv[3] == "merge")
large(large.get_mock_input())
print(resident() - before)
"""


def write_layers(path: Path, layers: int) -> None:
    rng = np.random.default_rng(0)
    names = ["x", *(f"h{i}" for i in range(1, layers)), "y"]
    nodes = [helper.make_node("MatMul", [names[i], f"w{i}"], [names[i + 1]]) for i in range(layers)]
    weights = [
        numpy_helper.from_array(rng.standard_normal((WIDTH, WIDTH), np.float32), f"w{i}")
        for i in range(layers)
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, WIDTH]) for n in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], weights)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path
    )


@pytest.mark.parametrize("merge", ["merge", "separate"])
@pytest.mark.parametrize("layers", [1, 4], ids=["16 MB", "64 MB"])
def test_loaded_onnx(tmp_path: Path, merge: str, layers: int) -> None:
    small, large = Bundle(tmp_path / "small"), Bundle(tmp_path / "large")
    for bundle in (small, large):
        bundle.folder.mkdir()
    small.node("n", "affine.onnx", ["x"], ["y"]).input("n", "x").output("n", "y")
    for number in range(NODES):
        path = large.folder / f"n{number}.onnx"
        write_layers(path, layers)
        shape = ("float32", [1, WIDTH])
        large.node(f"n{number}", path, [("x", *shape)], [("y", *shape)])
        if number:
            large.wire(f"n{number - 1}/y", f"n{number}/x")
    large.input("n0", "x").output(f"n{NODES - 1}", "y")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, small.write(), large.write(), merge],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1.2 * WIDTH * WIDTH * layers * NODES * 4
