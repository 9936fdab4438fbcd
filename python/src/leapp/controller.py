"""Run a bundle on a robot, and enforce its contract.

    controller = Controller("walker/walker.yaml", "robot.yaml", blend_in=2.0)
    controller.start()
    while running:  # at the robot's rate
        controller.set_sensor("joint_pos", encoders)
        controller.update()
        send(controller.actuator("joint_target"))

It wraps the C++ controller, which handles order, units, rates, histories, limits and fallbacks. The
Python interface suits simulations, tests and slow robots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import _console, _runtime
from .errors import expect_one_of
from .inference_manager import find_onnxruntime

__all__ = ["Controller", "Intervention", "ReplayReport", "replay"]

_console.show()


@dataclass(frozen=True)
class Intervention:
    """An intervention of a controller."""

    #: Tick of the loop, since ``start()``.
    tick: int
    #: "clamped", "slewed", "beyond_limits", "not_finite", "stale", "late" or "tick_failed".
    cause: str
    #: "policy/action", or empty.
    port: str


class Controller(_runtime.Controller):
    """A bundle on a robot. Use one from one thread at a time.

    Args:
        bundle: The ``.yaml`` file of a bundle.
        robot: The ``.yaml`` file that describes the robot.
        frequency: Rate of the policy in Hz, instead of the bundle's.
        interpolation: Targets between two results: the newest one, or linear interpolation. worker:
            Run the policy in a separate thread.
        deadline: Time limit of the policy in seconds; without it, a worker has one period of the
            policy.
        blend_in: Duration in seconds of the transition from the measured pose to the policy's
            targets.
        clock: Returns the time in seconds, from any origin; the steady clock without it.
            ``update()`` raises its exceptions.
        recording: An MCAP file to record every signal and port to.
        threads: Number of threads that share the work of one operator.
        provider: Where models run, as for ``InferenceManager``; values stay on the CPU.
        trust: ``"code"`` for bundles whose authors you trust.
        allow_native: Run the C++ nodes that ``leapp build`` compiled.
        noise_seed: Seed of the noise ports, from 0 to 2**64 - 1: equal seeds give equal runs.

    Raises:
        LeappValueError: The bundle or the robot's description is invalid, or they do not match.
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
        noise_seed: int = 0,
    ) -> None:
        expect_one_of(("hold", "linear"), interpolation, "interpolation")
        expect_one_of(("code", None), trust, "trust")
        find_onnxruntime()
        settings = {
            "engine": {"threads": threads, "provider": provider},
            "trust": trust,
            "allow_native": allow_native,
            "noise_seed": noise_seed,
            "frequency": frequency,
            "linear": interpolation == "linear",
            "worker": worker,
            "deadline": deadline,
            "blend_in": blend_in,
            "clock": clock,
            "recording": recording,
        }
        super().__init__(bundle, robot, settings)

    def interventions(self) -> list[Intervention]:
        """Return the last interventions, oldest first; at most 256 are kept."""
        return [Intervention(*one) for one in self._interventions()]


@dataclass(frozen=True)
class ReplayReport:
    """The result of a replay."""

    #: Number of ticks of the policy that were run.
    ticks: int
    #: (tick, port, element, recorded, computed) of the first value that differs, or None.
    difference: tuple[int, str, int, float, float] | None


def replay(
    recording: str | Path,
    bundle: str | Path,
    *,
    rtol: float = 1e-4,
    atol: float = 1e-6,
    policy: str = "",
) -> ReplayReport:
    """Replay the recording of a controller, up to the first value that differs.

    A recording of a supervisor contains several policies: ``policy`` names the one of the bundle.
    """
    from . import _tools

    find_onnxruntime()
    return ReplayReport(**_tools.replay(recording, bundle, rtol, atol, policy))
