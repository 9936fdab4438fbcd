"""Timelines for Perfetto: what Python and the command write, read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ready_bundle import Bundle
from test_inference_cli import COMMAND
from test_inference_cli import leapp as run

leapp = pytest.importorskip("leapp")


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: numbers, and bytes."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = number()
        if tag & 7 == 0:
            yield tag >> 3, number()
        else:
            assert tag & 7 == 2
            size = number()
            yield tag >> 3, message[at : at + size]
            at += size


def slices(file: Path) -> Counter[str]:
    """How many slices begin under each name, and how many end, under ``""``."""
    names: dict[int, str] = {}
    found: Counter[str] = Counter()
    for _, packet in fields(file.read_bytes()):
        for tag, content in fields(packet):
            if tag == 12:  # interned data
                for _, entry in fields(content):
                    pair = dict(fields(entry))
                    names[pair[1]] = pair[2].decode()
            elif tag == 11:  # a track event
                event = dict(fields(content))
                if event[9] == 1:
                    found[names[event[10]]] += 1
                elif event[9] == 2:
                    found[""] += 1
    return found


@pytest.fixture
def policy(tmp_path: Path) -> str:
    bundle = Bundle(tmp_path)
    bundle.node("pre", "affine.onnx", ["x"], ["y"])
    bundle.node("policy", "recurrent.onnx", ["x", "h_in"], ["y", "h_out"])
    bundle.wire("pre/y", "policy/x").feedback("policy/h_out", "policy/h_in")
    bundle.pipeline["configs"] = {"frequency": 50}
    return bundle.input("pre", "x").output("policy", "y").write()


def test_python_writes_a_slice_for_each_node(policy: str, tmp_path: Path) -> None:
    robot = leapp.InferenceManager(policy, array="numpy", merge=False)
    inputs = {"pre/x": np.ones((1, 4), np.float32)}
    robot.run_policy(inputs)  # before it was asked for
    robot.trace_to(tmp_path / "run.pftrace")
    for _ in range(5):
        robot.run_policy(inputs)
    robot.trace_to(None)
    robot.run_policy(inputs)  # after it ended
    assert slices(tmp_path / "run.pftrace") == {"tick": 5, "pre": 5, "policy": 5, "": 15}


def test_a_file_that_cannot_be_is_an_error(policy: str, tmp_path: Path) -> None:
    robot = leapp.InferenceManager(policy)
    with pytest.raises(OSError, match="nowhere") as caught:
        robot.trace_to(tmp_path / "nowhere" / "run.pftrace")
    assert caught.value.code == "LP962"  # type: ignore[attr-defined]


@pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")
def test_bench_writes_the_ticks_that_count(policy: str, tmp_path: Path) -> None:
    file = tmp_path / "bench.pftrace"
    run("bench", policy, "--ticks", 20, "--warm-up", 3, "--no-merge", "--perfetto", file)
    assert slices(file) == {"tick": 20, "pre": 20, "policy": 20, "": 60}
