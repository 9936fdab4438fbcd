"""Entries, metadata and schedules of Python as values of the tracing API."""

from __future__ import annotations

import enum
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import _trace, annotate

X = torch.ones(1, 2)


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Metres(float): ...


class Count(int): ...


def extra_of(bench: Workbench, extra: Any) -> Any:
    """Export a port with these additional keys; return its entry of the YAML."""
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        entry = ("y", x * 2, ("k", None, None, extra))
        _trace.output_tensors("n", [entry], [], "jit", {}, [], None)
    bench.compile()
    return bench.yaml()["models"]["n"]["outputs"][0]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (1e-300, 1e-300),
        ("ü", "ü"),
        ((1, 2.5, ["a"]), [1, 2.5, ["a"]]),
        (OrderedDict(b=1, a={}), {"b": 1, "a": {}}),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (Metres(1.5), 1.5),
        (Count(7), 7),
        (np.float32(0.5), 0.5),
        (np.int8(-3), -3),
        (np.bool_(True), True),
        (np.arange(4).reshape(2, 2)[:, ::-1], [[1, 0], [3, 2]]),
        (np.float64(2.5), 2.5),
        (torch.tensor([1.0, 2.0]), [1.0, 2.0]),
        (Path("a/b"), "a/b"),
        (torch.device("cpu"), "cpu"),
    ],
    ids=repr,
)
def test_metadata_has_plain_values(bench: Workbench, value: Any, expected: Any) -> None:
    found = extra_of(bench, {"value": value})["value"]
    assert (found, type(found)) == (expected, type(expected))


def nested(levels: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return {"value": value}


def ring() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["value"] = [value]
    return value


@pytest.mark.parametrize(
    ("extra", "code", "path"),
    [
        ({"a": [0, {"b": object()}]}, "LP002", "['a'][1]['b']"),
        ({"a": {1, 2}}, "LP002", "['a']"),
        ({"a": b"bytes"}, "LP002", "['a']"),
        ({"a": 1j}, "LP002", "['a']"),
        ({"a": {1: 2}}, "LP002", "['a']"),
        ({"a": 2**63}, "LP003", "['a']"),
        ({"a": Count(-(2**64))}, "LP003", "['a']"),
        (nested(40), "LP003", "['value']['a']"),
        (ring(), "LP003", "['value'][0]['value']"),
    ],
    ids=["object", "set", "bytes", "complex", "key", "size", "size of a subclass", "depth", "ring"],
)
def test_other_metadata_is_refused_with_its_path(
    bench: Workbench, extra: Any, code: str, path: str
) -> None:
    leapp.start("g", save_path=str(bench.folder))
    with refused(code, "'x'", path):
        _trace.input_tensors("n", [("x", X, (None, None, None, extra))])
    assert _trace.open_nodes() == []


def test_nesting_has_a_limit(bench: Workbench) -> None:
    found = extra_of(bench, nested(31))["value"]
    for _ in range(31):
        found = found["a"]
    assert found == 1


def test_names_of_elements(bench: Workbench) -> None:
    meaning = ("state/joint/position", ["__temporal_axis__", ["a", "b"]], 20, None)
    with bench.trace():
        [x] = _trace.input_tensors("n", [("x", X, meaning)])
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    bench.compile()
    port = bench.yaml()["models"]["n"]["inputs"][0]
    assert port["kind"] == "state/joint/position"
    assert port["element_names"] == ["__temporal_axis__", ["a", "b"]]
    assert port["temporal_period_ms"] == 20.0


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        (("x",), IndexError),
        (("x", np.ones(2), None), RuntimeError),
        ((3, X, None), RuntimeError),
        (("x", X, 5), TypeError),
        (7, TypeError),
    ],
    ids=repr,
)
def test_entries_of_the_wrong_form(bench: Workbench, entry: Any, error: type[Exception]) -> None:
    leapp.start("g", save_path=str(bench.folder))
    with pytest.raises(error):
        _trace.input_tensors("n", [entry])
    assert _trace.open_nodes() == []


def test_a_schedule_of_an_annotation(bench: Workbench) -> None:
    schedule = ("plan", 4, 0, 1, {}, "", "", [], {})
    with bench.trace():
        for tick in range(8):
            if tick % 4 == 0:
                goal = annotate.input_tensors("plan", {"goal": X})
                entries = [("plan", goal * 2, None)]
                [plan] = _trace.output_tensors("plan", entries, [], "onnx", {}, [], schedule)
            x, seen = annotate.input_tensors("act", {"x": X, "plan": plan})
            annotate.output_tensors("act", {"y": x + seen}, export_with="onnx")
    bench.compile()
    assert bench.yaml()["pipeline"]["schedule"] == {"plan": {"every": 4}}
