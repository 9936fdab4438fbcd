"""An export needs little memory in addition to the weights, which the program holds already."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MEGABYTES = 160

#: Traces, prints "traced", waits for a line, and exports with validation.
PROGRAM = """
import sys
import torch
import leapp
from leapp import annotate

kind, backend, megabytes, path = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
torch.set_num_threads(1)

side = int((megabytes * 2**18) ** 0.5)

def layers(make, size):
    return torch.nn.Sequential(*[make() for _ in range(max(1, megabytes * 2**20 // size))]).eval()

model, x = {
    "many": lambda: (layers(lambda: torch.nn.Linear(512, 512), 2**20), torch.randn(1, 512)),
    "one": lambda: (torch.nn.Linear(side, side, bias=False), torch.randn(1, side)),
    "convolutions": lambda: (
        layers(lambda: torch.nn.Conv2d(128, 128, 3, padding=1), 9 * 2**16),
        torch.randn(1, 128, 4, 4),
    ),
    "half": lambda: (
        layers(lambda: torch.nn.Linear(512, 512), 2**19).half(),
        torch.randn(1, 512).half(),
    ),
}[kind]()
with torch.no_grad():
    leapp.start("model", save_path=path)
    for node in ("first", "second"):  # which share their weights
        value = annotate.input_tensors(node, {"x": x})
        annotate.output_tensors(node, {"y": model(value)}, export_with=backend)
    leapp.stop()
    print("traced", flush=True)
    sys.stdin.readline()
    leapp.compile_graph(visualize=False)
"""


def anonymous(process: subprocess.Popen[str]) -> Iterator[int]:
    """Return the process's memory that no file backs, in bytes, until it ends."""
    while process.poll() is None:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                yield int(line.split()[1]) * 1024
        time.sleep(0.001)


def extra_memory(folder: Path, kind: str, backend: str, megabytes: int) -> int:
    """Return the peak memory of an export, minus the memory before it."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, kind, backend, str(megabytes), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdin and process.stdout
        said = [process.stdout.readline()]
        while said[-1].strip() != "traced":
            assert said[-1], "".join(said)
            said.append(process.stdout.readline())
        before = next(anonymous(process))
        process.stdin.write("\n")
        process.stdin.flush()
        peak = max(anonymous(process), default=before)
        said.append(process.stdout.read())
    assert process.returncode == 0, "".join(said)
    return peak - before


@pytest.mark.parametrize(
    ("kind", "backend"),
    [
        ("many", "onnx"),
        ("many", "jit"),
        ("one", "onnx"),
        ("one", "jit"),
        ("convolutions", "onnx"),
        ("half", "jit"),
    ],
)
def test_validated_export(tmp_path: Path, kind: str, backend: str) -> None:
    if backend == "onnx":
        version = pytest.importorskip("onnxruntime").__version__
        if tuple(map(int, version.split(".")[:2])) < (1, 31):
            pytest.skip(f"ONNX Runtime {version} copies weights; from 1.31 on it takes them")
    small = extra_memory(tmp_path / "small", kind, backend, 1)
    large = extra_memory(tmp_path / "large", kind, backend, MEGABYTES)
    assert large - small < 0.2 * MEGABYTES * 2**20
