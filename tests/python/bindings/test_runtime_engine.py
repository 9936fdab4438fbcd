"""Engines written in Python, which the runtime calls through _runtime.Manager(engines=..)."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_bundles
from conftest import refused

from leapp import _runtime

Buffer = tuple[memoryview, str, list[int]]


def array_of(buffer: Buffer) -> Any:
    memory, dtype, shape = buffer
    return np.frombuffer(memory, dtype).reshape(shape)


class Engine:
    """Computes y = 10 x; keeps its arguments."""

    def __init__(self, *file: Any) -> None:
        self.file = file
        self.bound: list[tuple[list[Buffer], list[Buffer]]] = []

    def __str__(self) -> str:
        return "ten times"

    def bind(self, inputs: list[Buffer], outputs: list[Buffer]) -> Any:
        self.bound.append((inputs, outputs))

        def run() -> None:
            array_of(outputs[0])[...] = 10 * array_of(inputs[0])

        return run


class Loader:
    """Makes engines and keeps them."""

    def __init__(self) -> None:
        self.engines: list[Engine] = []

    def __call__(self, *file: Any) -> Engine:
        self.engines.append(Engine(*file))
        return self.engines[-1]


def load(folder: Path, loader: Any, **changes: Any) -> _runtime.Manager:
    yaml = small_bundles.affine(folder)
    settings = small_bundles.settings(merge=False, **changes)
    return _runtime.Manager(yaml, settings, None, {"onnx": loader})


@pytest.mark.parametrize("trust", [None, "code"])
def test_the_loader_gets_the_checked_file(tmp_path: Path, trust: str | None) -> None:
    loader = Loader()
    manager = load(tmp_path, loader, trust=trust)
    node, path, data, trusted = loader.engines[0].file
    assert (node, path, trusted) == ("n", str(tmp_path / "n.onnx"), trust == "code")
    assert type(data) is bytes and data == (tmp_path / "n.onnx").read_bytes()
    assert any("ten times" in line for line in manager.description())


def test_buffers_are_views_of_the_ports(tmp_path: Path) -> None:
    loader = Loader()
    manager = load(tmp_path, loader)
    (((memory, *described),), outputs) = loader.engines[0].bound[-1]
    assert (memory.nbytes, described) == (16, ["float32", [1, 4]])
    assert not memory.readonly and len(outputs) == 1
    x = np.array([[1, 2, 3, 4]], np.float32)
    assert manager({"n/x": x})["n/y"].tolist() == [[10, 20, 30, 40]]


def test_bound_arrays_are_bound_again_without_a_copy(tmp_path: Path) -> None:
    loader = Loader()
    manager = load(tmp_path, loader)
    x, y = np.ones((1, 4), np.float32), np.zeros((1, 4), np.float32)
    manager.bind_input("n/x", x)
    manager.bind_output("n/y", y)
    inputs, outputs = loader.engines[0].bound[-1]
    assert array_of(inputs[0]).ctypes.data == x.ctypes.data
    assert array_of(outputs[0]).ctypes.data == y.ctypes.data
    manager.tick()
    assert y.tolist() == [[10] * 4]


def test_an_engine_that_raises_fails_the_tick(tmp_path: Path) -> None:
    class Raises(Engine):
        def bind(self, inputs: list[Buffer], outputs: list[Buffer]) -> Any:
            good = super().bind(inputs, outputs)

            def run() -> None:
                if array_of(inputs[0]).any():
                    raise ZeroDivisionError("policy")
                good()

            return run

    manager = load(tmp_path, Raises)
    with refused("LP611", "ZeroDivisionError"):
        manager({"n/x": np.ones((1, 4), np.float32)})
    assert manager({"n/x": np.zeros((1, 4), np.float32)})["n/y"].tolist() == [[0] * 4]


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_a_loader_that_raises_is_the_exception_of_the_constructor(
    tmp_path: Path, error: type[BaseException]
) -> None:
    def loader(*file: Any) -> Any:
        raise error("n")

    with pytest.raises(error):
        load(tmp_path, loader)


def test_engines_end_with_their_manager(tmp_path: Path) -> None:
    loader = Loader()
    manager = load(tmp_path, loader)
    gone = weakref.ref(loader.engines.pop())
    gc.collect()
    assert gone() is not None
    del manager
    gc.collect()
    assert gone() is None
