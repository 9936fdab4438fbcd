"""Deliberately broken files with the right checksum: always an error, never a crash, a hang or a
flood."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from onnx import TensorProto, helper, numpy_helper
from ready_bundle import Bundle
from safetensors.numpy import load_file, save_file
from test_inference_cli import COMMAND

import leapp

#: Loads and runs the bundles named on standard input. Prints each name first, in case it dies.
LOADER = """
import json, resource, sys
import leapp, torch
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = most()
for path in sys.stdin.read().splitlines():
    print(json.dumps([path, "died", "", 0]), flush=True)
    try:
        manager = leapp.InferenceManager(path)
        manager.run_policy(manager.get_mock_input())
        outcome = ["ran", ""]
    except Exception as error:
        outcome = [type(error).__name__, str(error)]
    print(json.dumps([path, *outcome, most() - before]), flush=True)
"""
EXPECTED = {"ran", "LeappValueError", "LeappNotFoundError"}


def load(paths: list[str]) -> list[list[Any]]:
    done = subprocess.run(
        [sys.executable, "-c", LOADER],
        input="\n".join(paths),
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert done.returncode == 0, f"died: {rows[-1]}: {done.stderr[-2000:]}"
    return [row for row in rows if row[1] != "died"]


def check(path: str, code: int = 1) -> str:
    """``leapp check`` reports the same in JSON and as text."""
    if COMMAND is None:
        pytest.skip("the leapp command is not installed")
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    words, report = (
        subprocess.run(
            [COMMAND, "check", path, *options], capture_output=True, env=environment, timeout=60
        )
        for options in ([], ["--json"])
    )
    assert words.returncode == report.returncode == code, words.stderr + report.stderr
    answer = json.loads(report.stdout)
    assert answer["ok"] == (code == 0)
    message = str(answer.get("error", ""))
    assert words.stderr.decode(errors="replace").strip() == (message and f"leapp: {message}")
    return message


def make(folder: Path, suffix: str) -> str:
    """Return two nodes, one with a state that has an initial value."""
    folder.mkdir(exist_ok=True)
    states = ("h_in", "h_out") if suffix == ".onnx" else ("h", "h")
    bundle = Bundle(folder)
    bundle.node("pre", f"affine{suffix}", ["x"], ["y"])
    bundle.node("policy", f"recurrent{suffix}", ["x", states[0]], ["y", states[1]])
    bundle.wire("pre/y", "policy/x").feedback(f"policy/{states[1]}", f"policy/{states[0]}")
    bundle.input("pre", "x").output("policy", "y")
    values = {f"policy/{states[0]}": np.ones((1, 4), np.float32)}
    save_file(values, folder / "test_initial_values.safetensors")
    bundle.pipeline["initial_values"] = "test_initial_values.safetensors"
    return bundle.write()


def put(path: str, name: str, content: bytes) -> str:
    """Replace a file of the bundle, and its checksum."""
    folder = Path(path).parent
    old = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / name).write_bytes(content)
    text = Path(path).read_text()
    Path(path).write_text(text.replace(old, hashlib.sha256(content).hexdigest()))
    return path


def damage(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    place = rng.randrange(len(changed))
    kind = rng.randrange(6)
    if kind == 0:
        return bytes(changed[:place])
    if kind == 1:
        changed[place:place] = rng.randbytes(rng.randrange(1, 20))
    elif kind == 2:
        del changed[place : place + rng.randrange(1, 30)]
    elif kind == 3:
        changed[place] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
    else:
        for _ in range(rng.choice([1, 1, 3])):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


@pytest.mark.parametrize(
    "name", ["pre.onnx", "policy.onnx", "pre.pt", "policy.pt", "test_initial_values.safetensors"]
)
def test_damaged(name: str, tmp_path: Path) -> None:
    """The bytes may be anything, and errors may quote them."""
    suffix = ".pt" if name.endswith(".pt") else ".onnx"
    rng = random.Random(name)
    paths = []
    for number in range(80):
        path = make(tmp_path / str(number), suffix)
        paths.append(put(path, name, damage((Path(path).parent / name).read_bytes(), rng)))
    rows = load(paths)
    assert len(rows) == len(paths)
    for path, kind, message, memory in rows:
        assert kind in EXPECTED, (path, kind, message)
        assert message or kind == "ran"
        assert memory < 2**30
    assert any(kind != "ran" for _, kind, _, _ in rows)


@pytest.mark.parametrize("name", ["pre.onnx", "pre.pt"])
def test_empty_and_foreign_files(name: str, tmp_path: Path) -> None:
    for number, content in enumerate([b"", b"\0" * 1000, b"PK\3\4", b"hello", os.urandom(5000)]):
        path = put(make(tmp_path / str(number), Path(name).suffix), name, content)
        with pytest.raises(ValueError, match=r"test\.yaml:\d+:\d+: node 'pre': .*could not be"):
            leapp.InferenceManager(path)
        assert "could not be loaded" in check(path)


def nested(depth: int) -> bytes:
    """Return nested graphs, as protobuf."""

    def field(number: int, content: bytes) -> bytes:
        size, head = len(content), bytes([number << 3 | 2])
        while size > 0x7F:
            head += bytes([size & 0x7F | 0x80])
            size >>= 7
        return head + bytes([size]) + content

    content = b""
    for _ in range(depth):
        content = field(1, field(5, field(6, content)))
    return b"\x08\x08" + field(7, content)


def model(nodes: list[Any], *initializers: TensorProto) -> bytes:
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], list(initializers))
    built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return bytes(built.SerializeToString())


def adding(**fields: Any) -> bytes:
    """Return x + w, with a w that has these fields."""
    w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=fields.pop("dims", [1, 4]))
    for key, value in fields.pop("external", {}).items():
        w.data_location = TensorProto.EXTERNAL
        w.external_data.add(key=key, value=value)
    w.raw_data = fields.pop("raw_data", b"")
    return model([helper.make_node("Add", ["x", "w"], ["y"])], w)


def functions(count: int, calls: int = 1) -> bytes:
    """Return functions of the file, each of which calls the next one."""
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    chain = []
    for i in range(count):
        last = i + 1 == count
        inner = [
            helper.make_node(
                "Relu" if last else f"f{i + 1}", ["x"], ["y"], domain="" if last else "local"
            )
            for _ in range(calls)
        ]
        chain.append(helper.make_function("local", f"f{i}", ["x"], ["y"], inner, opsets))
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    first = helper.make_node("f0", ["x"], ["y"], domain="local")
    graph = helper.make_graph([first], "g", ports[:1], ports[1:])
    built = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=chain)
    return bytes(built.SerializeToString())


HOSTILE: dict[str, bytes] = {
    "3,000 functions in a row": functions(3000),
    "functions that double": functions(60, 2),
    "another domain": model([helper.make_node("Squash", ["x"], ["y"], domain="my.robot")]),
    "graphs in graphs": nested(20_000),
    "a cycle": model(
        [helper.make_node("Add", ["x", "b"], ["y"]), helper.make_node("Relu", ["y"], ["b"])]
    ),
    "an unknown operator": model([helper.make_node("Nope", ["x"], ["y"])]),
    "a huge weight": adding(dims=[2**31, 2**31], raw_data=b"\0" * 16),
    "a negative weight": adding(dims=[-1, 4], raw_data=b"\0" * 16),
    "a short weight": adding(raw_data=b"\0" * 7),
    "data outside": adding(external={"location": "../../../etc/passwd", "length": "16"}),
    "data anywhere": adding(external={"location": "/etc/passwd", "length": "16"}),
    "data missing": adding(external={"location": "nothing.bin"}),
    "data beyond the end": adding(external={"location": "pre.onnx", "length": str(2**50)}),
    "names that are no text": model([helper.make_node("Relu", ["x"], ["y"])]).replace(
        b"Relu", b"\xff\xfe\x80\x81"
    ),
    "other types": model(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        numpy_helper.from_array(np.zeros((1, 4), np.int64), "w"),
    ),
}


@pytest.mark.parametrize("merge", [True, False], ids=["merged", "separate"])
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_onnx(content: bytes, merge: bool, tmp_path: Path) -> None:
    path = put(make(tmp_path, ".onnx"), "pre.onnx", content)
    with pytest.raises(ValueError, match=r"test\.yaml:\d+:\d+: (\[B21\] )?node 'pre': "):
        leapp.InferenceManager(path, merge=merge)


def test_the_command_escapes_invalid_utf8(tmp_path: Path) -> None:
    path = put(make(tmp_path, ".onnx"), "pre.onnx", HOSTILE["names that are no text"])
    assert "could not be loaded as ONNX" in check(path)


def safetensors(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(shape: list[int], first: int, last: int, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


GOOD_ENTRY = entry([1, 4], 0, 16)
INITIAL_VALUES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "B23"),
    "no header": (b"\0" * 8, "B23"),
    "a huge header": (struct.pack("<Q", 2**60) + b"{}", "B23.*the header claims"),
    "a deep header": (safetensors(b"[" * 100_000), "B23"),
    "no entry": (safetensors({}), "B20.*no initial value for the feedback input 'policy/h_in'"),
    "an unknown input": (
        safetensors({"policy/h_in": GOOD_ENTRY, "nobody/x": entry([1], 16, 20)}, b"\0" * 20),
        "B20.*belongs to no input",
    ),
    "another shape": (
        safetensors({"policy/h_in": entry([4], 0, 16)}, b"\0" * 16),
        r"B20.*has shape \[4\], the port has \[1, 4\]",
    ),
    "another dtype": (
        safetensors({"policy/h_in": entry([1, 4], 0, 32, "F64")}, b"\0" * 32),
        "B20.*has dtype float64, the port has float32",
    ),
    "a huge shape": (
        safetensors({"policy/h_in": entry([2**40, 2**40], 0, 16)}, b"\0" * 16),
        "B23.*too large",
    ),
    "an overlap": (
        safetensors({"policy/h_in": GOOD_ENTRY, "pre/x": entry([1, 4], 8, 24)}, b"\0" * 24),
        "B23.*overlap",
    ),
    "bytes left over": (safetensors({"policy/h_in": GOOD_ENTRY}, b"\0" * 20), "B23"),
    "an unknown dtype": (
        safetensors({"policy/h_in": entry([1, 4], 0, 16, "F99")}, b"\0" * 16),
        "B23",
    ),
}


@pytest.mark.parametrize(("content", "reason"), INITIAL_VALUES.values(), ids=INITIAL_VALUES)
def test_initial_values(content: bytes, reason: str, tmp_path: Path) -> None:
    path = put(make(tmp_path, ".onnx"), "test_initial_values.safetensors", content)
    with pytest.raises(ValueError, match=rf"test_initial_values\.safetensors: \[{reason}"):
        leapp.InferenceManager(path)


def test_initial_values_of_the_good_bundle_arrive(tmp_path: Path) -> None:
    path = make(tmp_path, ".onnx")
    assert load_file(tmp_path / "test_initial_values.safetensors")
    assert leapp.InferenceManager(path, array="numpy").state()["policy/h_in"].tolist() == [[1] * 4]
    assert check(path, code=0) == ""


def replace(path: Path, make_other: Callable[[Path], object]) -> None:
    path.unlink()
    make_other(path)


def link_folder(path: Path) -> None:
    """The model is reached through a link to another directory."""
    outside = path.parent.parent / "outside"
    outside.mkdir()
    shutil.copy(path, outside)
    path.unlink()
    path.symlink_to(outside / path.name)


STRANGE: dict[str, Callable[[Path], object]] = {
    "a pipe": lambda path: replace(path, os.mkfifo),
    "a folder": lambda path: replace(path, os.mkdir),
    "an endless device": lambda path: replace(path, lambda p: p.symlink_to("/dev/zero")),
    "a link to itself": lambda path: replace(path, lambda p: p.symlink_to(p.name)),
    "a link to nothing": lambda path: replace(path, lambda p: p.symlink_to("nothing")),
    "a link elsewhere": link_folder,
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("name", ["test.yaml", "pre.onnx", "test_initial_values.safetensors"])
@pytest.mark.parametrize("spoil", STRANGE.values(), ids=STRANGE)
def test_strange_files(name: str, spoil: Callable[[Path], object], tmp_path: Path) -> None:
    path = make(tmp_path / "bundle", ".onnx")
    spoil(Path(path).parent / name)
    if name == "test.yaml" and spoil is link_folder:
        return  # a user may link to a bundle's YAML; its files are then relative to the link
    with pytest.raises((ValueError, FileNotFoundError)) as caught:
        leapp.InferenceManager(path)
    where = "test.yaml" if name == "test.yaml" else r"test.yaml:"
    assert where in str(caught.value)
    assert check(path) == str(caught.value)


YAMLS: dict[str, tuple[Callable[[str], str | bytes], str]] = {
    "nothing": (lambda t: "", r":1:1: \[B2\]"),
    "blank lines": (lambda t: "\n\n", r":1:1: \[B2\]"),
    "a word": (lambda t: "hello", r":1:1: \[B3\]"),
    "a list": (lambda t: "- a\n- b\n", r":1:1: \[B3\]"),
    "a key twice": (lambda t: t + "\nmodels: {}\n", r":\d+:1: \[B2\] the key 'models' appears"),
    "two documents": (lambda t: f"{t}\n---\n{t}", r":\d+:1: \[B2\] a second YAML document"),
    "a tag": (lambda t: '!!python/object/apply:os.system ["true"]', r":1:1: \[B3\]"),
    "no text": (lambda t: t.encode().replace(b"policy", b"pol\xff"), r":\d+:\d+: \[B2\].*UTF-8"),
    "UTF-16": (lambda t: t.encode("utf-16"), r":1:1: \[B2\].*UTF-8"),
    "a zero": (lambda t: t.replace("policy", "pol\0"), r":\d+:\d+: \[B2\]"),
    "tabs": (lambda t: t.replace("  ", "\t"), r":\d+:\d+: \[B2\]"),
    "an alias of itself": (lambda t: f"a: &a [*a]\n{t}", r":1:8: \[B2\]"),
    "an unknown alias": (lambda t: f"a: *b\n{t}", r":1:4: \[B2\]"),
    "a merged mapping": (lambda t: f"a: &a {{b: 1}}\nc:\n  <<: *a\n{t}", r":3:3: \[B2\]"),
    "a list as key": (lambda t: f"? [a, b]\n: c\n{t}", r":1:3: \[B2\]"),
    "deep lists": (lambda t: "a: " + "[" * 50_000 + "]" * 50_000, r":1:\d+: \[B2\] nested deeper"),
    "deep mappings": (lambda t: "a: " + "{a: " * 50_000, r":1:\d+: \[B2\] nested deeper"),
    "a long line": (lambda t: f"a: {'x' * 2**25}\n{t}", r":1:1: \[B1\].*more than the limit"),
}


@pytest.mark.parametrize(("spoil", "reason"), YAMLS.values(), ids=YAMLS)
def test_yaml(spoil: Callable[[str], str | bytes], reason: str, tmp_path: Path) -> None:
    path = make(tmp_path, ".onnx")
    text = spoil(Path(path).read_text())
    Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=rf"^{path}{reason}"):
        leapp.InferenceManager(path)


Edit = Callable[[dict[str, Any], dict[str, Any]], Any]


def port(**fields: Any) -> Edit:
    return lambda models, pipeline: models["pre"]["inputs"][0].update(fields)


def parameter(**fields: Any) -> Edit:
    return lambda models, pipeline: models["pre"]["parameters"].update(fields)


def flow(kind: str = "data_flow", /, **wires: Any) -> Edit:
    named = {source.replace("__", "/"): targets for source, targets in wires.items()}
    return lambda models, pipeline: pipeline[kind].update(named)


EDITS: dict[str, tuple[Edit, str]] = {
    "a node wired to itself": (flow(pre__y=["policy/x", "pre/x"]), "B16"),
    "a wire to an output": (flow(pre__y=["policy/y"]), "B15"),
    "a wire from an input": (flow(pre__x=["policy/x"]), "B15"),
    "a wire from nobody": (flow(nobody__x=["policy/x"]), "B15.*there is no model 'nobody'"),
    "a wire without port": (flow(pre=["policy/x"]), "B15.*expected node/port"),
    "a wire to a word": (flow(pre__y="policy/x"), "B15.*expected a list"),
    "a wire to null": (flow(pre__y=None), "B15"),
    "a wire twice": (flow(pre__y=["policy/x", "policy/x"]), "B16.*two sources"),
    "a cycle": (flow(policy__y=["pre/x"]), "B16"),
    "two producers": (flow("feedback_flow", policy__y=["policy/x"]), "B16.*two sources"),
    "no source": (lambda m, p: p.update(inputs={}), "B16.*has no source"),
    "an input also wired": (lambda m, p: p["inputs"].update(policy=["x"]), "B16.*two sources"),
    "an unknown input": (lambda m, p: p["inputs"].update(pre=["x", "q"]), "B15.*no input 'q'"),
    "an unknown output": (lambda m, p: p["outputs"].update(policy=["q"]), "B15.*no output 'q'"),
    "inputs as a list": (lambda m, p: p.update(inputs=["pre/x"]), "B15.*expected a mapping"),
    "a model of null": (lambda m, p: m.update(pre=None), "B6.*expected a mapping"),
    "a model without name": (lambda m, p: m.update({"": m["pre"]}), "B5"),
    "a slash in a node's name": (lambda m, p: m.update({"a/b": m["pre"]}), "B5.*separates"),
    "a size below zero": (port(shape=[-1, 4]), "B8"),
    "half a size": (port(shape=[1.5, 4]), "B8.*expected a size"),
    "a truth as size": (port(shape=[True, 4]), "B8.*expected a size"),
    "a list as size": (port(shape=[[1], [4]]), "B8.*expected a size"),
    "a shape of text": (port(shape="1, 4"), "B8.*expected a list"),
    "a shape of null": (port(shape=None), "B8.*expected a list"),
    "a size beyond numbers": (port(shape=[10**30]), "B8.*expected a size"),
    "a shape that overflows": (port(shape=[2**32, 2**32]), "B8.*too many elements"),
    "a shape that is large": (port(shape=[2**29]), "B9.*exceed the limit"),
    "many dimensions": (port(shape=[1] * 10_000), "B8.*10000 dimensions, more than the limit"),
    "an unknown dtype": (port(dtype="float99"), "B8.*no dtype 'float99'"),
    "a dtype of null": (port(dtype=None), "B8"),
    "another dtype than the wire": (
        lambda m, p: m["policy"]["inputs"][0].update(dtype="float64"),
        "B17.*Dtype mismatch in pipeline connection",
    ),
    "another shape than the wire": (
        lambda m, p: m["policy"]["inputs"][0].update(shape=[2, 4]),
        "B17.*Shape mismatch in pipeline connection",
    ),
    "a port without name": (port(name=""), "B5"),
    "no tensor": (port(type="sequence"), "B7"),
    "no checksum": (lambda m, p: m["pre"]["parameters"].pop("sha256sum"), "B6.*is missing"),
    "half a checksum": (parameter(sha256sum="abc"), "B13"),
    "another checksum": (parameter(sha256sum="0" * 64), "B21.*SHA256 checksum mismatch"),
    "an unknown backend": (parameter(backend="tensorrt"), "B12.*Unsupported backend 'tensorrt'"),
    "an absolute path": (parameter(model_path="/etc/passwd"), "B14"),
    "a path through dots": (parameter(model_path="a/../../b.onnx"), "B14.*is outside the bundle"),
    "a path with a zero": (parameter(model_path="pre\0.onnx"), "B14.*is not a path"),
    "an empty path": (parameter(model_path=""), "B14.*must not be empty"),
    "an opset of words": (parameter(opset_version="new"), "B6.*expected an integer"),
}


@pytest.mark.parametrize(("edit", "reason"), EDITS.values(), ids=EDITS)
def test_edited_yaml(edit: Edit, reason: str, tmp_path: Path) -> None:
    path = make(tmp_path, ".onnx")
    document = yaml.safe_load(Path(path).read_text())
    edit(document["models"], document["pipeline"])

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    Path(path).write_text(yaml.dump(document, Dumper=Plain, sort_keys=False))
    with pytest.raises(ValueError, match=rf"^{path}:\d+:\d+: \[{reason}"):
        leapp.InferenceManager(path)


def test_every_case_from_the_command(tmp_path: Path) -> None:
    """The same message and exit code 1, without Python."""
    for number, (edit, _) in enumerate(list(EDITS.values())[::6]):
        path = make(tmp_path / str(number), ".onnx")
        document = yaml.safe_load(Path(path).read_text())
        edit(document["models"], document["pipeline"])
        Path(path).write_text(yaml.safe_dump(document, sort_keys=False))
        with pytest.raises(ValueError) as caught:
            leapp.InferenceManager(path)
        assert check(path) == str(caught.value)
