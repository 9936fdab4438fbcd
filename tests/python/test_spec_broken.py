"""Broken bundles: always an error that states the fault, never a crash, a hang or a flood."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

import leapp
from leapp import annotate

#: Loads bundles one after the other, and prints the outcome and the memory of each.
LOADER = """
import json, re, resource, sys
import leapp
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
for path in sys.argv[1:]:
    try:
        manager = leapp.InferenceManager(path)
        manager.run_policy(manager.get_mock_input())
        outcome = ["ran", ""]
    except Exception as error:
        kind = next((k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins"), "?")
        outcome = [kind, str(error)]
    # Not ru_maxrss, which begins with what the process had that started this one.
    memory = 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
    print(json.dumps([path, *outcome, memory]), flush=True)
"""


def load(paths: list[Path], code: str = LOADER) -> list[list[Any]]:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, paths)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"died after {rows[-1:]}: {done.stderr[-2000:]}"
    return rows


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a two-node ONNX bundle with a state and feedback of the action."""
    folder = tmp_path_factory.mktemp("good")
    last, h = torch.zeros(1, 3), torch.zeros(1, 3)
    leapp.start("g", save_path=str(folder))
    for _ in range(2):
        obs, prev = annotate.input_tensors("pre", {"obs": torch.randn(1, 3), "prev": last})
        x = annotate.output_tensors("pre", {"x": obs + 0.5 * prev}, export_with="onnx")
        x = annotate.input_tensors("policy", {"x": x})
        h = annotate.state_tensors("policy", {"h": h})
        h = torch.tanh(h + x)
        annotate.update_state("policy", {"h": h})
        last = annotate.output_tensors("policy", {"action": h * 2}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / "g"


def copy(good: Path, folder: Path) -> Path:
    shutil.copytree(good, folder)
    return folder / "g.yaml"


def test_good_bundle_runs(good: Path) -> None:
    assert load([good / "g.yaml"])[0][1] == "ran"


def test_truncated_yaml(good: Path, tmp_path: Path) -> None:
    text = (good / "g.yaml").read_bytes()
    paths = []
    for number, length in enumerate(range(0, len(text), max(1, len(text) // 60))):
        path = copy(good, tmp_path / str(number))
        path.write_bytes(text[:length])
        paths.append(path)
    for path, kind, message, _ in load(paths):
        assert kind in ("ValueError", "FileNotFoundError", "ran"), (path, kind, message)


@pytest.mark.parametrize("name", ["g.yaml", "policy.onnx", "g_initial_values.safetensors"])
def test_flipped_bits(good: Path, tmp_path: Path, name: str) -> None:
    rng = random.Random(0)
    paths = []
    for number in range(40):
        path = copy(good, tmp_path / str(number))
        content = bytearray((good / name).read_bytes())
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        (path.parent / name).write_bytes(content)
        paths.append(path)
    kinds = set()
    for path, kind, message, _ in load(paths):
        kinds.add(kind)
        assert kind in ("ValueError", "FileNotFoundError", "ran"), (path, kind, message)
        assert message or kind == "ran"
    if name != "g.yaml":
        assert kinds == {"ValueError"}


@pytest.mark.parametrize("name", ["policy.onnx", "g_initial_values.safetensors"])
def test_truncated_files(good: Path, tmp_path: Path, name: str) -> None:
    content = (good / name).read_bytes()
    paths = []
    for number, length in enumerate([0, 1, 7, 8, 9, len(content) // 2, len(content) - 1]):
        path = copy(good, tmp_path / str(number))
        (path.parent / name).write_bytes(content[:length])
        paths.append(path)
    assert {row[1] for row in load(paths)} == {"ValueError"}


Edit = Callable[[dict[str, Any]], Any]
EDITS: dict[str, Edit] = {
    "cycle": lambda d: d["pipeline"]["data_flow"].update({"policy/action": ["pre/obs"]}),
    "two sources": lambda d: d["pipeline"]["data_flow"].update({"policy/action": ["policy/x"]}),
    "no inputs": lambda d: d["models"]["pre"].pop("inputs"),
    "inputs no list": lambda d: d["models"]["pre"].update(inputs=3),
    "port no mapping": lambda d: d["models"]["pre"].update(inputs=["x"]),
    "port without name": lambda d: d["models"]["pre"]["inputs"][0].pop("name"),
    "port without shape": lambda d: d["models"]["pre"]["inputs"][0].pop("shape"),
    "negative shape": lambda d: d["models"]["pre"]["inputs"][0].update(shape=[-1, 3]),
    "huge shape": lambda d: d["models"]["pre"]["inputs"][0].update(shape=[2**40, 2**40]),
    "large shape": lambda d: d["models"]["pre"]["inputs"][0].update(shape=[2**33]),
    "shape of words": lambda d: d["models"]["pre"]["inputs"][0].update(shape=["a"]),
    "unknown dtype": lambda d: d["models"]["pre"]["inputs"][0].update(dtype="float99"),
    "port twice": lambda d: d["models"]["pre"]["inputs"].append(d["models"]["pre"]["inputs"][0]),
    "no parameters": lambda d: d["models"]["pre"].pop("parameters"),
    "path is a folder": lambda d: d["models"]["pre"]["parameters"].update(model_path="."),
    "absolute path": lambda d: d["models"]["pre"]["parameters"].update(model_path="/etc/passwd"),
    "path with dots": lambda d: d["models"]["pre"]["parameters"].update(model_path="../g/pre.onnx"),
    "wrong hash": lambda d: d["models"]["pre"]["parameters"].update(sha256sum="0" * 64),
    "wire of a list": lambda d: d["pipeline"].update(data_flow=[1, 2]),
    "unknown node in inputs": lambda d: d["pipeline"]["inputs"].update(nobody=["x"]),
    "unknown port in outputs": lambda d: d["pipeline"]["outputs"].update(policy=["nothing"]),
    "initial values missing": lambda d: d["pipeline"].update(initial_values="nothing.safetensors"),
    "initial values outside": lambda d: d["pipeline"].update(initial_values="../../x.safetensors"),
    "models empty": lambda d: d.update(models={}),
    "newer version": lambda d: d["system information"].update({"leapp config version": "9.0"}),
    "version of words": lambda d: d["system information"].update({"leapp config version": "new"}),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_edited_yaml(good: Path, tmp_path: Path, edit: Edit) -> None:
    path = copy(good, tmp_path / "g")
    document = yaml.safe_load(path.read_text())
    edit(document)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    with pytest.raises((ValueError, FileNotFoundError)) as caught:
        leapp.InferenceManager(str(path))
    assert "g.yaml" in str(caught.value) or str(tmp_path) in str(caught.value)


def test_symlink_out_of_the_directory(good: Path, tmp_path: Path) -> None:
    path = copy(good, tmp_path / "g")
    shutil.move(path.parent / "pre.onnx", tmp_path / "elsewhere.onnx")
    (path.parent / "pre.onnx").symlink_to(tmp_path / "elsewhere.onnx")
    with pytest.raises(ValueError, match=r"pre\.onnx"):
        leapp.InferenceManager(str(path))


def test_alias_bomb(tmp_path: Path) -> None:
    lines = ['a0: &a0 ["x", "x"]']
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    path = tmp_path / "g.yaml"
    path.write_text("\n".join([*lines, "models: *a11", "pipeline: {}", "system information: {}"]))
    ((_, kind, message, memory),) = load([path])
    assert kind == "ValueError", message
    assert memory < 2**30


def test_deep_nesting(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("models: " + "[" * 50000 + "]" * 50000)
    ((_, kind, message, memory),) = load([path])
    assert kind == "ValueError", message
    assert memory < 2**30


def test_ten_thousand_nodes(good: Path, tmp_path: Path) -> None:
    """Files that are too large to be valid, or just large, need at most two gigabytes of memory."""
    path = copy(good, tmp_path / "g")
    document = yaml.safe_load(path.read_text())
    document["models"] = {f"n{i}": document["models"]["pre"] for i in range(10_000)}
    document["pipeline"]["data_flow"] = {f"n{i}/x": [f"n{i + 1}/prev"] for i in range(9_999)}
    document["pipeline"]["feedback_flow"] = {}
    document["pipeline"]["inputs"] = {f"n{i}": ["obs"] for i in range(10_000)}
    document["pipeline"]["outputs"] = {"n9999": ["x"]}
    document["pipeline"].pop("initial_values")

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    path.write_text(yaml.dump(document, Dumper=Plain, sort_keys=False))
    code = LOADER.replace("manager.run_policy(manager.get_mock_input())", "pass")
    ((_, kind, message, memory),) = load([path], code)
    assert kind in ("ran", "ValueError"), message
    assert memory < 2 * 2**30
