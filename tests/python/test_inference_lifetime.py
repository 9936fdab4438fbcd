"""Deleting a manager frees sessions, threads and files immediately, without the collector."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ready_bundle import Bundle

from leapp import InferenceManager


@pytest.fixture(autouse=True)
def _without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def yaml(tmp_path: Path) -> Path:
    """Write a bundle of one recurrent ONNX node."""
    bundle = Bundle(tmp_path).node("n", "recurrent.onnx", ["x", "h_in"], ["y", "h_out"])
    return Path(bundle.feedback("n/h_out", "n/h_in").input("n", "x").output("n", "y").write())


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _use(manager: InferenceManager) -> None:
    manager(manager.get_mock_input())
    for node in manager.nodes.values():
        assert node.model is not None
        node(*(np.zeros(shape, np.float32) for shape in node.input_shapes))
    dict(manager.value_dict)
    repr(manager)


def test_deleting_a_manager_frees_it_without_the_collector(yaml: Path) -> None:
    manager = InferenceManager(yaml, array="numpy")
    _use(manager)
    gone = weakref.ref(manager)
    del manager
    assert gone() is None


def test_deleting_managers_leaves_no_thread_and_no_file(yaml: Path, tmp_path: Path) -> None:
    _use(InferenceManager(yaml, array="numpy", threads=3))  # files that a process opens once
    threads, files = _threads(), _files()
    for turn in range(4):
        manager = InferenceManager(yaml, array="numpy", threads=3)
        manager.trace_to(tmp_path / f"{turn}.pftrace")
        _use(manager)
        assert _threads() > threads and _files() > files
        del manager
        assert (_threads(), _files()) == (threads, files)


def test_a_node_keeps_its_manager_and_not_the_other_way(yaml: Path) -> None:
    manager = InferenceManager(yaml, array="numpy")
    gone = weakref.ref(manager)
    node = next(iter(manager.nodes.values()))
    del manager
    assert gone() is not None
    node(*(np.zeros(shape, np.float32) for shape in node.input_shapes))
    del node
    assert gone() is None


def test_the_model_of_a_node_is_loaded_once(yaml: Path) -> None:
    manager = InferenceManager(yaml, array="numpy")
    name = next(iter(manager.nodes))
    assert manager.nodes[name].model is manager.nodes[name].model
    assert manager.nodes[name] == manager.nodes[name]
