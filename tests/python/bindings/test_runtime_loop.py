"""Options, clock, states, sensors and counts, which Controller and Supervisor share."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_bundles
import yaml
from conftest import refused

import leapp


def started(folder: Path, **options: Any) -> leapp.Controller:
    rate = options.pop("rate", 50)
    controller = leapp.Controller(
        small_bundles.affine(folder), small_bundles.robot(folder, rate), **options
    )
    controller.start()
    return controller


def test_states_have_names(tmp_path: Path) -> None:
    document = yaml.safe_load(small_bundles.affine(tmp_path).read_text())
    document["models"]["n"]["outputs"][0].update(limits={"upper": 5, "on_violation": "stop"})
    (tmp_path / "strict.yaml").write_text(yaml.safe_dump(document))
    controller = leapp.Controller(
        tmp_path / "strict.yaml", small_bundles.robot(tmp_path), clock=lambda: 0.0
    )
    states = [controller.update()]
    controller.start()
    states.append(controller.update())
    for value in (1, 100):
        controller.set_sensor("q", [value] * 4)
        states.append(controller.update())
    controller.stop()
    states.append(controller.update())
    assert states == ["inactive", "fallback", "running", "stopped", "inactive"]


@pytest.mark.parametrize("kind", [int, float, np.float32, np.int64, np.float64, Fraction])
def test_times_of_a_clock_are_any_real_numbers(tmp_path: Path, kind: Any) -> None:
    ticks = itertools.count()
    controller = started(tmp_path, clock=lambda: kind(next(ticks)))
    controller.set_sensor("q", [1] * 4)
    assert controller.update() == "running"


@pytest.mark.parametrize(
    ("time", "code"),
    [(True, "LP002"), ("1", "LP002"), (1j, "LP002"), (float("nan"), "LP003"), (10**400, "LP003")],
)
def test_other_times_are_refused_before_the_tick(tmp_path: Path, time: Any, code: str) -> None:
    controller = started(tmp_path, clock=lambda: time)
    with refused(code, "clock()"):
        controller.update()
    assert controller.ticks == 0


def test_seconds_become_time(tmp_path: Path) -> None:
    now = 0.0
    document = yaml.safe_load(small_bundles.affine(tmp_path).read_text())
    document["models"]["n"]["inputs"][0]["max_age_ms"] = 100
    (tmp_path / "fresh.yaml").write_text(yaml.safe_dump(document))
    robot = small_bundles.robot(tmp_path)
    controller = leapp.Controller(tmp_path / "fresh.yaml", robot, clock=lambda: now)
    controller.start()
    controller.set_sensor("q", [1] * 4, age=0.05)
    assert controller.update() == "running"
    now = 0.05
    assert controller.update() == "running"  # exactly 100 ms
    now = 0.051
    assert controller.update() == "fallback"
    assert controller.counts()["stale"] == 1


def test_linear_interpolation_and_hold(tmp_path: Path) -> None:
    sent = {}
    for interpolation in ("hold", "linear"):
        controller = started(tmp_path, rate=100, interpolation=interpolation, clock=lambda: 0.0)
        rows = []
        for tick in range(4):
            controller.set_sensor("q", [tick] * 4)
            controller.update()
            rows.append(controller.actuator("m")[0])
        sent[interpolation] = rows
    assert sent["hold"] == [1, 1, 5, 5]
    assert sent["linear"][3] == 5 and 1 < sent["linear"][2] < 5


def test_counts_have_every_cause(tmp_path: Path) -> None:
    controller = started(tmp_path, clock=lambda: 0.0)
    assert list(controller.counts()) == [
        "clamped", "slewed", "beyond_limits", "not_finite", "stale", "late", "tick_failed",
    ]  # fmt: skip
    assert controller.update() == "fallback"
    assert controller.counts()["stale"] == 1
    assert controller._interventions() == [(0, "stale", "n/x")]


@pytest.mark.parametrize("option", ["frequency", "deadline", "recording", "clock"])
def test_none_is_the_default(tmp_path: Path, option: str) -> None:
    controller = started(tmp_path, **{option: None})
    controller.set_sensor("q", [1] * 4)
    assert controller.update() == "running"
    assert controller.decimation == 1
    with refused("LP002", option):
        started(tmp_path, **{option: []})
