"""The class Supervisor: names of policies and flags, records, calls at once."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
import small_bundles
from conftest import refused

import leapp

DESCRIPTION = """\
policies:
  stand: {bundle: stand/test.yaml}
  walk: {bundle: walk/test.yaml}
switches:
  - {from: stand, to: walk, when: {flag: go}}
"""


def make(folder: Path, **options: Any) -> leapp.Supervisor:
    for name in ("stand", "walk"):
        small_bundles.affine(folder / name)
    (folder / "supervisor.yaml").write_text(DESCRIPTION)
    robot = small_bundles.robot(folder)
    return leapp.Supervisor(folder / "supervisor.yaml", robot, **{"clock": lambda: 0.0, **options})


def tick(supervisor: leapp.Supervisor) -> str:
    supervisor.set_sensor("q", [1, 2, 3, 4])
    return supervisor.update()


def test_policies_are_known_by_name(tmp_path: Path) -> None:
    supervisor = make(tmp_path)
    assert supervisor.policies == ["stand", "walk"]
    supervisor.policies.clear()
    assert supervisor.policies == ["stand", "walk"]
    assert (supervisor.active, supervisor.ticks, supervisor.dropped) == ("stand", 0, 0)
    for call in (supervisor.counts, supervisor.failure, supervisor.interventions):
        for name in ("", "Stand", "stand "):
            with refused("LP656"):
                call(name)  # type: ignore[operator]


def test_a_flag_is_true_by_default_and_kept(tmp_path: Path) -> None:
    supervisor = make(tmp_path)
    supervisor.set_flag("go")
    supervisor.start()
    assert (tick(supervisor), supervisor.active) == ("running", "walk")
    with refused("LP002", "value"):
        supervisor.set_flag("go", 1)  # type: ignore[arg-type]
    supervisor.set_flag("go", value=False)
    supervisor.request("stand")
    assert (tick(supervisor), supervisor.active) == ("running", "stand")
    assert supervisor.actuator("m") == [3, 5, 7, 9]


def test_switches_are_tuples(tmp_path: Path) -> None:
    supervisor = make(tmp_path)
    supervisor.start()
    supervisor.request("walk")
    tick(supervisor)
    supervisor.set_flag("go")
    supervisor.request("stand")
    tick(supervisor)
    tick(supervisor)
    assert supervisor._switches() == [
        (0, "switched", "walk", None),
        (1, "switched", "stand", None),
        (2, "switched", "walk", 0),
    ]
    assert supervisor.switch_counts()["switched"] == 3


def test_interventions_belong_to_the_active_policy(tmp_path: Path) -> None:
    supervisor = make(tmp_path)
    supervisor.start()
    assert supervisor.update() == "fallback"
    assert supervisor._interventions("stand") == [(0, "stale", "n/x")]
    assert supervisor._interventions("walk") == []
    assert (supervisor.counts("stand")["stale"], supervisor.counts("walk")["stale"]) == (1, 0)


@pytest.mark.parametrize("method", ["start", "stop", "update"])
def test_two_calls_at_once_are_refused(tmp_path: Path, method: str) -> None:
    codes: list[str] = []
    supervisor: Any = None

    def elsewhere() -> None:
        try:
            getattr(supervisor, method)()
        except leapp.LeappError as error:
            codes.append(error.code)

    def clock() -> float:
        if supervisor is not None and not codes:
            elsewhere()
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
        return 0.0

    started = make(tmp_path, clock=clock)
    started.start()
    supervisor = started
    assert tick(started) == "running"
    assert codes == ["LP609", "LP609"]


def test_a_failed_start_ends_it(tmp_path: Path) -> None:
    times = iter([])

    supervisor = make(tmp_path, clock=lambda: next(times), recording=tmp_path / "run.mcap")
    with pytest.raises(StopIteration):
        supervisor.start()
    times = iter([0.0])
    assert supervisor.update() == "inactive"


def test_the_clock_lives_as_long_as_the_supervisor(tmp_path: Path) -> None:
    class Clock:
        def __call__(self) -> float:
            return 0.0

    clock = Clock()
    gone = weakref.ref(clock)
    supervisor = make(tmp_path, clock=clock, worker=True)
    del clock
    gc.collect()
    supervisor.start()
    assert tick(supervisor) in ("waiting", "running") and gone() is not None
    del supervisor
    gc.collect()
    assert gone() is None
