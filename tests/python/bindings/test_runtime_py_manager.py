"""A manager's arrays and state: copies and views, what is kept alive, and calls at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_bundles
import torch
from conftest import refused

import leapp

ONES = np.ones((1, 4), np.float32)


@pytest.fixture
def manager(tmp_path: Path) -> leapp.InferenceManager:
    return leapp.InferenceManager(small_bundles.recurrent(tmp_path), array="numpy")


@pytest.mark.parametrize("array", ["numpy", "torch"])
def test_results_outlive_later_ticks_and_the_manager(tmp_path: Path, array: Any) -> None:
    manager = leapp.InferenceManager(small_bundles.recurrent(tmp_path), array=array)
    first = manager({"n/x": ONES})["n/y"]
    kept = [first, manager.state()["n/h_in"], manager.value_dict["n"]["y"]]
    second = manager({"n/x": ONES})["n/y"]
    del manager
    assert [each.tolist() for each in kept] == [[[1] * 4], [[0.5] * 4], [[1] * 4]]
    assert second.tolist() == [[1.5] * 4]


def test_inputs_are_copied(manager: leapp.InferenceManager) -> None:
    x = ONES.copy()
    before = sys.getrefcount(x)
    manager.set_input_value("n", "x", x)
    x[:] = 100
    assert manager({})["n/y"].tolist() == [[1] * 4]
    manager({"n/x": x})
    assert sys.getrefcount(x) == before


@pytest.mark.parametrize("port", ["n/x", "n/y"])
def test_a_bound_array_is_kept_until_it_is_released(
    manager: leapp.InferenceManager, port: str
) -> None:
    bind = manager.bind_input if port == "n/x" else manager.bind_output
    first, second = ONES.copy(), ONES.copy()
    counts = sys.getrefcount(first), sys.getrefcount(second)
    bind(port, first)
    assert sys.getrefcount(first) == counts[0] + 1
    bind(port, second)
    assert (sys.getrefcount(first), sys.getrefcount(second)) == (counts[0], counts[1] + 1)
    with refused("LP603", port):
        bind(port, ONES[0])
    assert sys.getrefcount(second) == counts[1] + 1
    bind(port, None)
    assert sys.getrefcount(second) == counts[1]
    bind(port, second)
    del manager, bind
    assert sys.getrefcount(second) <= counts[1] + 1  # pytest's fixture holds the manager


def test_state_of_torch_and_numpy_is_exchanged(manager: leapp.InferenceManager) -> None:
    manager.set_state({"n/h_in": torch.full((4, 2), 8.0).t()[:1]})
    state = manager.state()
    assert state["n/h_in"].tolist() == [[8] * 4]
    state["n/h_in"][:] = 0
    assert manager.state()["n/h_in"].tolist() == [[8] * 4]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ([], "LP002"),
        ({"n/x": ONES}, "LP601"),
        ({"n/h_in": ONES[0]}, "LP603"),
        ({"n/h_in": ONES.astype(np.float64)}, "LP602"),
        ({3: ONES}, "LP002"),
        ({}, "LP604"),
    ],
)
def test_a_wrong_state_changes_nothing(
    manager: leapp.InferenceManager, state: Any, code: str
) -> None:
    manager.set_state({"n/h_in": ONES})
    with refused(code):
        manager.set_state(state)
    assert manager.state()["n/h_in"].tolist() == [[1] * 4]


def test_ports_may_have_the_annotated_name(manager: leapp.InferenceManager) -> None:
    manager.set_input_value("n", "h", 4 * ONES)
    assert manager({"n/x": ONES})["n/y"].tolist() == [[5] * 4]
    for name in ("n/z", "n/h", "n/h_in", "n", ""):
        with refused("LP601"):
            manager({name: ONES})
    for node, port in (("n", "y"), ("m", "x"), ("n", "")):
        with refused("LP601"):
            manager.set_input_value(node, port, ONES)


class Calling(Mapping[str, Any]):
    """Inputs that use the manager while it reads them."""

    def __init__(self, call: Any) -> None:
        self.call = call

    def __getitem__(self, name: str) -> Any:
        self.call()
        return ONES

    def __iter__(self) -> Iterator[str]:
        return iter(["n/x"])

    def __len__(self) -> int:
        return 1


def test_calls_inside_a_call_are_refused(manager: leapp.InferenceManager) -> None:
    for call in (
        lambda: manager({"n/x": ONES}),
        manager.tick,
        lambda: manager.bind_input("n/x", None),
        lambda: manager.bind_output("n/y", None),
        lambda: manager.set_input_value("n", "x", ONES),
        lambda: manager.output_age("n/y"),
    ):
        with refused("LP609"):
            manager(Calling(call))
    manager.reset()
    assert manager({"n/x": ONES})["n/y"].tolist() == [[1] * 4]


def test_calls_of_another_thread_are_refused(manager: leapp.InferenceManager) -> None:
    codes: list[str | None] = []

    def elsewhere() -> None:
        try:
            manager.tick()
        except leapp.LeappError as error:
            codes.append(error.code)

    def call() -> None:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    assert manager(Calling(call))["n/y"].tolist() == [[1] * 4]
    assert codes == ["LP609"]
