"""Timelines for Perfetto, written from Python and the command, and read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import refused
from ready_bundle import Bundle
from test_inference_cli import COMMAND
from test_inference_cli import leapp as run

leapp = pytest.importorskip("leapp")


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Return the fields of a protobuf message: numbers, and bytes."""
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
    """Count the slices that begin under each name, and those that end, under ``""``."""
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


def assert_known(message: Any) -> None:
    """Check that Perfetto knows every field of the message, and those of nested messages."""
    unknown_fields = pytest.importorskip("google.protobuf.unknown_fields")
    assert not list(unknown_fields.UnknownFieldSet(message)), message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for each in value if isinstance(value, Sequence) else [value]:
                assert_known(each)


class Perfetto:
    """Read a file by Perfetto's own description, and check the requirements of TrackEvent."""

    def __init__(self, file: Path) -> None:
        protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
        self.packet, self.event = protos.TracePacket, protos.TrackEvent
        self.names: dict[int, str] = {}
        self.tracks: dict[int, Any] = {}
        self.open: dict[int, list[tuple[str, int]]] = {}  # slices by track
        self.took: dict[str, list[int]] = {}
        self.counted: dict[str, list[int]] = {}
        self.last: dict[int, int] = {}
        self.cleared = False
        for packet in protos.Trace.FromString(file.read_bytes()).packet:
            assert_known(packet)
            assert packet.trusted_packet_sequence_id == 1
            self.take(packet)
        assert not any(self.open.values())

    def take(self, packet: Any) -> None:
        flags = packet.sequence_flags
        self.cleared = self.cleared or bool(flags & self.packet.SEQ_INCREMENTAL_STATE_CLEARED)
        if packet.HasField("interned_data"):
            assert self.cleared
            self.names.update((each.iid, each.name) for each in packet.interned_data.event_names)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid != 0  # which is the default track
            assert not track.HasField("parent_uuid") or track.parent_uuid in self.tracks
            self.tracks[track.uuid] = track
        if packet.HasField("track_event"):
            uuid, event = packet.track_event.track_uuid, packet.track_event
            assert packet.HasField("timestamp")
            assert packet.timestamp >= self.last.get(uuid, 0)
            self.last[uuid] = packet.timestamp
            if event.HasField("name_iid"):
                assert self.cleared
                assert flags & self.packet.SEQ_NEEDS_INCREMENTAL_STATE
            self.take_event(uuid, event, packet.timestamp)

    def take_event(self, uuid: int, event: Any, time: int) -> None:
        track = self.tracks[uuid]
        assert (event.type == self.event.TYPE_COUNTER) == track.HasField("counter")
        stack = self.open.setdefault(uuid, [])
        if event.type == self.event.TYPE_SLICE_BEGIN:
            stack.append((self.names[event.name_iid], time))
        elif event.type == self.event.TYPE_SLICE_END:
            name, begin = stack.pop()
            self.took.setdefault(name, []).append(time - begin)
        elif event.type == self.event.TYPE_COUNTER:
            assert event.HasField("counter_value")
            self.counted.setdefault(track.name, []).append(event.counter_value)


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
    robot.run_policy(inputs)  # before the timeline starts
    robot.trace_to(tmp_path / "run.pftrace")
    for _ in range(5):
        robot.run_policy(inputs)
    robot.trace_to(None)
    robot.run_policy(inputs)  # after it ended
    assert slices(tmp_path / "run.pftrace") == {"tick": 5, "pre": 5, "policy": 5, "": 15}


def test_perfetto_reads_the_runtimes_files(policy: str, tmp_path: Path) -> None:
    robot = leapp.InferenceManager(policy, array="numpy", merge=False)
    robot.trace_to(tmp_path / "run.pftrace")
    for _ in range(5):
        robot.run_policy({"pre/x": np.ones((1, 4), np.float32)})
    robot.trace_to(None)
    found = Perfetto(tmp_path / "run.pftrace")
    assert {name: len(each) for name, each in found.took.items()} == {
        "tick": 5,
        "pre": 5,
        "policy": 5,
    }
    assert found.counted["tick took"] == found.took["tick"]
    process = next(each for each in found.tracks.values() if each.HasField("process"))
    assert process.process.process_name


def test_a_file_that_cannot_be_is_an_error(policy: str, tmp_path: Path) -> None:
    robot = leapp.InferenceManager(policy)
    with refused("LP962", "nowhere") as caught:
        robot.trace_to(tmp_path / "nowhere" / "run.pftrace")
    assert caught.value.code == "LP962"  # type: ignore[attr-defined]


@pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")
def test_bench_writes_the_ticks_that_count(policy: str, tmp_path: Path) -> None:
    file = tmp_path / "bench.pftrace"
    run("bench", policy, "--ticks", 20, "--warm-up", 3, "--no-merge", "--perfetto", file)
    assert slices(file) == {"tick": 20, "pre": 20, "policy": 20, "": 60}
