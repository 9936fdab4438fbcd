"""The files that a robot needs do not reveal directories of the exporting machine."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("torch")

PROGRAM = """
import sys, torch, leapp
sys.path.insert(0, sys.argv[2])
from outside import squash
from leapp import annotate

leapp.start("walker", save_path=sys.argv[3])
for _ in range(2):
    x = annotate.input_tensors("policy", {"x": torch.randn(1, 4)})
    annotate.output_tensors("policy", {"y": squash(x) * 2}, export_with=sys.argv[1])
leapp.stop()
leapp.compile_graph()
"""
FOR_ITS_MAKER = {"log.txt", "diagnostics.json"}
BACKENDS = ("jit", "onnx", "onnx-torchscript", "onnx-dynamo", "pt2")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file that is shared, including those inside archives."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.name in FOR_ITS_MAKER:
            continue
        found[file.name] = file.read_bytes()
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                found |= {f"{file.name}/{name}": archive.read(name) for name in archive.namelist()}
    return found


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_file_names_a_directory_of_this_machine(backend: str, tmp_path: Path) -> None:
    if backend == "onnx-dynamo" and importlib.util.find_spec("onnxscript") is None:
        pytest.skip("onnx-dynamo needs onnxscript, which is not installed")
    inside, outside = tmp_path / "work folder", tmp_path / "elsewhere"
    inside.mkdir()
    outside.mkdir()
    (inside / "walk.py").write_text(PROGRAM)
    (outside / "outside.py").write_text("def squash(x):\n    return x.tanh()\n")
    bundle = outside / "out"
    arguments = [backend, str(outside), str(bundle)]
    subprocess.run(
        [sys.executable, str(inside / "walk.py"), *arguments],
        cwd=inside,
        check=True,
        capture_output=True,
    )
    files = contents(bundle)
    secrets = [str(tmp_path), sys.prefix, os.path.expanduser("~") + "/"]
    told = [
        (name, found[0])
        for name, content in files.items()
        for secret in secrets
        if (found := re.findall(rb".{0,40}" + re.escape(secret.encode()) + rb".{0,60}", content))
    ]
    assert told == []
    if backend == "onnx":
        assert b"outside.py:2 in squash" in files["policy.onnx"]
        assert b"walk.py:10 in <module>" in files["policy.onnx"]  # lines are reported anyway
