"""The class Manager: its names, defaults and properties."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_bundles
from conftest import refused

import leapp
from leapp import _runtime

ONES = np.ones((1, 4), np.float32)


@pytest.fixture
def manager(tmp_path: Path) -> leapp.InferenceManager:
    return leapp.InferenceManager(small_bundles.recurrent(tmp_path), array="numpy")


def test_a_manager_is_called_by_two_names(manager: leapp.InferenceManager) -> None:
    assert manager.run_policy({"n/x": ONES})["n/y"].tolist() == [[1] * 4]
    assert manager({"n/x": ONES})["n/y"].tolist() == [[1.5] * 4]
    assert manager(inputs={"n/x": ONES})["n/y"].tolist() == [[1.75] * 4]
    with pytest.raises(TypeError):
        manager()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("inputs", ["n/x"]),
        ("outputs", ["n/y"]),
        ("feedback_inputs", ["n/h_in"]),
        ("noise_inputs", []),
        ("device", "cpu"),
    ],
)
def test_properties_are_read_only(manager: leapp.InferenceManager, name: str, value: Any) -> None:
    assert getattr(manager, name) == value
    with pytest.raises(AttributeError):
        setattr(manager, name, value)
    if isinstance(value, list):
        getattr(manager, name).append("n/other")
        assert getattr(manager, name) == value


def test_mock_input_depends_on_the_seed_alone(manager: leapp.InferenceManager) -> None:
    first = manager.get_mock_input()["n/x"]
    assert first.tobytes() == manager.get_mock_input(0)["n/x"].tobytes()
    assert first.tobytes() != manager.get_mock_input(seed=1)["n/x"].tobytes()
    with refused("LP003", "seed"):
        manager.get_mock_input(-1)


def test_ages_of_outputs(manager: leapp.InferenceManager) -> None:
    assert manager.output_age("n/y") is None
    manager({"n/x": ONES})
    assert manager.output_age("n/y") == 0
    with refused("LP601", "n/z"):
        manager.output_age("n/z")


def test_a_tick_is_undone_once(manager: leapp.InferenceManager) -> None:
    manager({"n/x": ONES})
    manager({"n/x": ONES})
    for _ in range(2):
        manager.undo_tick()
        assert manager.state()["n/h_in"].tolist() == [[0.5] * 4]


def test_reset_and_prepare_keep_their_promises(manager: leapp.InferenceManager) -> None:
    manager({"n/x": ONES})
    manager.prepare()
    assert manager.state()["n/h_in"].tolist() == [[0.5] * 4]
    manager.reset()
    assert manager.state()["n/h_in"].tolist() == [[0] * 4]
    with refused("LP604", "n/x"):
        manager.tick()


def test_statistics_without_measuring(manager: leapp.InferenceManager) -> None:
    manager({"n/x": ONES})
    statistics = manager.statistics()
    keys = ["count", "mean", "p50", "p99", "p99.9", "max"]
    assert list(statistics) == ["tick", "nodes", "deadline_misses"]
    assert statistics["tick"] == dict.fromkeys(keys, 0)


def test_the_stub_lists_the_methods(manager: leapp.InferenceManager) -> None:
    stub = Path(inspect.getfile(leapp)).with_name("_runtime.pyi").read_text()
    for name, kind in (("Manager", _runtime.Manager), ("Controller", _runtime.Controller)):
        part = stub.partition(f"class {name}:")[2].partition("\nclass ")[0]
        listed = {line.split("(")[0].split()[-1] for line in part.splitlines() if "def " in line}
        found = {each for each in vars(kind) if each[:2] != "__"} | {"__init__"}
        found.discard("_pybind11_conduit_v1_")
        assert listed - {"__call__"} == found
