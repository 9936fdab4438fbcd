"""The class Controller: values that it returns, calls at once, and what it keeps alive."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path

import pytest
import small_bundles
from conftest import refused

import leapp


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return small_bundles.affine(tmp_path), small_bundles.robot(tmp_path, rate=100)


def test_values_are_copies(files: tuple[Path, Path]) -> None:
    controller = leapp.Controller(*files, clock=lambda: 0.0)
    controller.start()
    measured = [1.0, 2.0, 3.0, 4.0]
    controller.set_sensor("q", measured)
    measured[0] = 100.0
    assert controller.update() == "running"
    controller.actuator("m").clear()
    controller.sensors["q"].clear()
    controller.counts().clear()
    assert controller.actuator("m") == [3.0, 5.0, 7.0, 9.0]
    assert controller.sensors == {"q": small_bundles.JOINTS}
    assert set(controller.counts().values()) == {0}


def test_a_new_controller(files: tuple[Path, Path]) -> None:
    controller = leapp.Controller(*files)
    assert (controller.ticks, controller.failure, controller.dropped) == (0, "", 0)
    assert (controller.decimation, controller.update()) == (2, "inactive")
    assert controller.interventions() == []


def test_the_clock_lives_as_long_as_the_controller(files: tuple[Path, Path]) -> None:
    class Clock:
        def __call__(self) -> float:
            return 0.0

    clock = Clock()
    gone = weakref.ref(clock)
    controller = leapp.Controller(*files, clock=clock)
    del clock
    gc.collect()
    controller.start()
    assert gone() is not None
    del controller
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("method", ["start", "stop", "update"])
def test_another_thread_is_refused_during_a_tick(files: tuple[Path, Path], method: str) -> None:
    inside, leave = threading.Event(), threading.Event()
    blocks = False

    def clock() -> float:
        if blocks:
            inside.set()
            leave.wait(60)
        return 0.0

    controller = leapp.Controller(*files, clock=clock)
    controller.start()
    controller.set_sensor("q", [0] * 4)
    states: list[str] = []
    thread = threading.Thread(target=lambda: states.append(controller.update()))
    blocks = True
    thread.start()
    inside.wait(60)
    try:
        with refused("LP609"):
            getattr(controller, method)()
    finally:
        blocks = False
        leave.set()
        thread.join()
    assert states == ["running"]
    assert controller.update() == "running"


def test_a_worker_ends_with_its_controller(files: tuple[Path, Path]) -> None:
    recording = files[0].with_name("run.mcap")
    controller = leapp.Controller(*files, worker=True, recording=recording, clock=lambda: 0.0)
    controller.start()
    controller.set_sensor("q", [1] * 4)
    assert controller.update() in ("waiting", "running")
    del controller
    assert recording.read_bytes()[:5] == b"\x89MCAP"
    assert recording.read_bytes()[-8:] == b"\x89MCAP0\r\n"
