"""Run a bundle on a robot, and keep its contract.

    controller = Controller("walker/walker.yaml", "robot.yaml", blend_in=2.0)
    controller.start()
    while running:  # at the robot's rate
        controller.set_sensor("joint_pos", encoders)
        controller.update()
        send(controller.actuator("joint_target"))

It is the controller of C++: order, units, rates, histories, limits and fallbacks are kept there.
From Python it suits simulations, tests and slow robots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import _console, _runtime
from .errors import LeappValueError
from .inference_manager import find_onnxruntime

__all__ = ["Controller", "Intervention", "ReplayReport", "replay"]

_console.show()


@dataclass(frozen=True)
class Intervention:
    """A time that a controller stepped in."""

    #: Of the loop, since ``start()``.
    tick: int
    #: "clamped", "slewed", "beyond_limits", "not_finite", "stale", "late" or "tick_failed".
    cause: str
    #: "policy/action", or empty.
    port: str


class Controller:
    """A bundle on a robot. Use one from one thread at a time.

    Args:
        bundle: The ``.yaml`` file of a bundle.
        robot: The ``.yaml`` file that describes the robot.
        frequency: How often the policy runs in a second, instead of what the bundle says.
        interpolation: What is put out between two results: the newest target, or a line to it.
        worker: Run the policy in a thread of its own.
        deadline: Seconds that the policy may take; a worker has the policy's period without it.
        blend_in: Seconds from the measured pose to what the policy says.
        clock: Returns the time in seconds, from any origin; the steady clock without it.
        recording: An MCAP file to record every signal and port to.
        threads: Threads that share the work inside one operator.
        provider: Where models run, as for ``InferenceManager``; values stay on the CPU.
        trust: ``"code"`` for bundles of people whose programs you would run.
        allow_native: Let C++ nodes run, as ``leapp build`` compiled them.

    Raises:
        LeappValueError: The bundle or the robot's description is wrong, or they do not fit each
            other.
    """

    def __init__(
        self,
        bundle: str | Path,
        robot: str | Path,
        *,
        frequency: float | None = None,
        interpolation: Literal["hold", "linear"] = "hold",
        worker: bool = False,
        deadline: float | None = None,
        blend_in: float = 0.0,
        clock: Callable[[], float] | None = None,
        recording: str | Path | None = None,
        threads: int = 1,
        provider: str = "cpu",
        trust: Literal["code"] | None = None,
        allow_native: bool = False,
    ) -> None:
        if interpolation not in ("hold", "linear"):
            raise LeappValueError.coded(
                "LP003", f"interpolation must be 'hold' or 'linear', not {interpolation!r}"
            )
        if trust not in (None, "code"):
            raise LeappValueError.coded("LP003", f"trust must be 'code' or None, not {trust!r}")
        find_onnxruntime()
        runtime = {
            "engine": {"threads": threads, "provider": provider},
            "nodes": {},
            "merge": True,
            "check_finite": False,
            "staleness": {},
            "deadline": None,
            "on_deadline_miss": None,
            "measure": False,
            "allow_outside_files": False,
            "trust": trust,
            "allow_native": allow_native,
            "max_tensor_bytes": 1 << 30,
        }
        settings = {
            "runtime": runtime,
            "frequency": frequency,
            "linear": interpolation == "linear",
            "worker": worker,
            "deadline": deadline,
            "blend_in": blend_in,
            "clock": clock,
            "recording": recording,
        }
        self._controller = _runtime.Controller(Path(bundle), Path(robot), settings)

    @property
    def sensors(self) -> dict[str, list[str]]:
        """The robot's sensors, and what their elements are called, in order."""
        return {name: self._controller.elements(name, True) for name in self._controller.sensors}

    @property
    def actuators(self) -> dict[str, list[str]]:
        """The robot's actuators, and what their elements are called, in order."""
        return {name: self._controller.elements(name, False) for name in self._controller.actuators}

    @property
    def decimation(self) -> int:
        """Ticks of the loop for one of the policy's."""
        return self._controller.decimation

    @property
    def ticks(self) -> int:
        """Ticks of the loop since ``start()``."""
        return self._controller.ticks

    @property
    def failure(self) -> str:
        """How the policy failed the last time that it did; empty when it never has."""
        return self._controller.failure

    @property
    def dropped(self) -> int:
        """Values that the recording had no room for."""
        return self._controller.dropped

    def start(self) -> None:
        """Make policy, histories, fallbacks and counts begin anew."""
        self._controller.start()

    def stop(self) -> None:
        """End it: ``update()`` puts out nothing until ``start()``."""
        self._controller.stop()

    def set_sensor(self, name: str, values: Sequence[float], age: float = 0.0) -> None:
        """Say what a sensor measured ``age`` seconds ago, in the order of its elements."""
        self._controller.set_sensor(name, values, age)

    def update(self) -> str:
        """Run one tick of the loop.

        Returns:
            What was put out: ``"inactive"``, ``"waiting"``, ``"running"``, ``"fallback"`` or
            ``"stopped"``.
        """
        return self._controller.update()

    def actuator(self, name: str) -> list[float]:
        """Return what an actuator is given, in the order of its elements."""
        return self._controller.actuator(name)

    def counts(self) -> dict[str, int]:
        """Return how often the controller stepped in since ``start()``, by cause."""
        return self._controller.counts()

    def interventions(self) -> list[Intervention]:
        """Return the last interventions, oldest first; at most 256 are kept."""
        return [Intervention(*one) for one in self._controller.interventions()]


@dataclass(frozen=True)
class ReplayReport:
    """What came of a replay."""

    #: Of the policy, that were run.
    ticks: int
    #: (tick, port, element, recorded, computed) of the first value that differs, or None.
    difference: tuple[int, str, int, float, float] | None


def replay(
    recording: str | Path, bundle: str | Path, *, rtol: float = 1e-4, atol: float = 1e-6
) -> ReplayReport:
    """Run what a controller recorded again, up to the first value that differs."""
    find_onnxruntime()
    return ReplayReport(**_runtime.replay(Path(recording), Path(bundle), rtol, atol))
