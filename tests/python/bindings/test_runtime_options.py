"""Options of a manager from Python: engines, guards, ages, deadlines and callbacks."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import small_bundles
from conftest import refused

import leapp
from leapp import _runtime

ONES = {"n/x": np.ones((1, 4), np.float32)}
NANS = {"n/x": np.full((1, 4), np.nan, np.float32)}
HUGE = {"n/x": np.full((1, 4), 3e38, np.float32)}


def load(folder: Path, **options: Any) -> leapp.InferenceManager:
    return leapp.InferenceManager(small_bundles.affine(folder), array="numpy", **options)


@pytest.mark.parametrize(
    ("guard", "nans", "huge"),
    [
        (False, True, True),
        ([], True, True),
        (True, False, False),
        (["inputs"], False, True),
        (("outputs",), False, False),
        (["state"], True, True),
        (["inputs", "outputs", "state"], False, False),
    ],
)
def test_the_guard_covers_the_named_values(
    tmp_path: Path, guard: Any, nans: bool, huge: bool
) -> None:
    manager = load(tmp_path, check_finite=guard)
    for values, passes in ((NANS, nans), (HUGE, huge)):  # 2 x + 1 of the second is infinite
        if passes:
            assert not np.isfinite(manager(values)["n/y"]).any()
        else:
            with refused("LP606"):
                manager(values)


@pytest.mark.parametrize(
    ("guard", "code"),
    [("inputs", "LP002"), (None, "LP002"), ([1], "LP002"), ([""], "LP003"), (["input"], "LP003")],
)
def test_other_guards(tmp_path: Path, guard: Any, code: str) -> None:
    with refused(code, "check_finite"):
        load(tmp_path, check_finite=guard)


def test_options_by_name_are_any_mapping(tmp_path: Path) -> None:
    nodes = MappingProxyType({"n": MappingProxyType({"threads": 2, "affinity": ()})})
    manager = load(tmp_path, nodes=nodes, staleness=MappingProxyType({"n/x": 60}))
    assert manager(ONES)["n/y"].tolist() == [[3] * 4]
    with refused("LP605", "n/x"):
        load(tmp_path, staleness={"n/x": 0.0})(ONES)


@pytest.mark.parametrize(
    ("engine", "code"),
    [
        ({"colour": 1}, "LP619"),
        ({1: 1}, "LP002"),
        ({"threads": None}, "LP002"),
        ({"affinity": [1.5]}, "LP002"),
        ({"translate": 1}, "LP002"),
    ],
)
def test_engine_options_are_checked_alike_for_all_and_for_one(
    tmp_path: Path, engine: dict[Any, Any], code: str
) -> None:
    yaml = small_bundles.affine(tmp_path)
    for changes in ({"engine": engine}, {"nodes": {"n": engine}}):
        with refused(code):
            _runtime.Manager(yaml, small_bundles.settings(**changes), None, {})


def test_a_late_tick_is_reported_in_seconds(tmp_path: Path) -> None:
    calls: list[tuple[Any, ...]] = []
    manager = load(tmp_path, deadline=1e-9, on_deadline_miss=lambda *miss: calls.append(miss))
    for _ in range(2):
        manager(ONES)
    assert [tick for tick, _, _ in calls] == [0, 1]
    assert {tuple(map(type, miss)) for miss in calls} == {(int, float, float)}
    assert all(took > deadline == 1e-9 for _, took, deadline in calls)
    assert manager.statistics()["deadline_misses"] == 2


def test_a_callback_that_raises_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: raised.append(args.exc_type))
    manager = load(tmp_path, deadline=1e-9, on_deadline_miss=lambda tick: None)  # type: ignore[misc]
    assert manager(ONES)["n/y"].tolist() == [[3] * 4]
    assert raised == [TypeError]


def test_a_callback_lives_as_long_as_its_manager(tmp_path: Path) -> None:
    class Callback:
        def __call__(self, *miss: Any) -> None: ...

    callback = Callback()
    gone = weakref.ref(callback)
    manager = load(tmp_path, deadline=60.0, on_deadline_miss=callback)
    del callback
    gc.collect()
    assert gone() is not None
    del manager
    assert gone() is None


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"noise_seed": -1}, "LP003"),
        ({"noise_seed": 1.0}, "LP002"),
        ({"noise_seed": None}, "LP002"),
        ({"max_tensor_bytes": 2**64}, "LP003"),
        ({"max_tensor_bytes": "1"}, "LP002"),
        ({"on_deadline_miss": "print"}, "LP002"),
        ({"deadline": float("nan")}, "LP003"),
    ],
)
def test_values_out_of_range(tmp_path: Path, options: dict[str, Any], code: str) -> None:
    with refused(code, next(iter(options))):
        load(tmp_path, **options)
