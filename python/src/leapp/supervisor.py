"""Run several bundles on one robot, one at a time: stand, walk, get up.

    supervisor = Supervisor("supervisor.yaml", "robot.yaml")
    supervisor.start()
    while running:  # at the robot's rate
        if joystick_pressed:
            supervisor.request("walk")
        supervisor.set_sensor("joint_pos", encoders)
        supervisor.update()
        send(supervisor.actuator("joint_target"))

It is the supervisor of C++. The description in ``supervisor.yaml`` has the policies, the conditions
of switches, blending and the common fallback.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import _console, _runtime
from .controller import Intervention
from .errors import expect_one_of
from .inference_manager import find_onnxruntime

__all__ = ["Supervisor", "SwitchRecord"]

_console.show()


@dataclass(frozen=True)
class SwitchRecord:
    """A decision of a supervisor."""

    #: Of the loop, since ``start()``.
    tick: int
    #: "switched", "refused", "emergency_stop" or "cleared".
    event: str
    #: That was switched to or refused; otherwise the active one.
    policy: str
    #: Index into the switches of the description; None for a call of the program.
    rule: int | None


class Supervisor(_runtime.Supervisor):
    """Several bundles on one robot. Use one from one thread at a time.

    Args:
        supervision: The ``.yaml`` file that describes policies and switches.
        robot: The ``.yaml`` file that describes the robot.
        frequency: How often policies run in a second, if neither description nor bundle says so.
        interpolation: What is sent between two results, if the description does not say so.
        worker: Run each policy in a thread of its own.
        deadline: Seconds that a policy may take; a worker has the policy's period without it.
        clock: Returns the time in seconds, from any origin; the steady clock without it. What it
            raises, ``update()`` raises.
        recording: An MCAP file to record every signal, port and switch to.
        threads: Threads that share the work inside one operator.
        provider: Where models run, as for ``InferenceManager``; values stay on the CPU.
        trust: ``"code"`` for bundles of people whose programs you would run.
        allow_native: Let C++ nodes run, as ``leapp build`` compiled them.

    Raises:
        LeappValueError: A description or a bundle is wrong, or they do not fit each other.
    """

    def __init__(
        self,
        supervision: str | Path,
        robot: str | Path,
        *,
        frequency: float | None = None,
        interpolation: Literal["hold", "linear"] = "hold",
        worker: bool = False,
        deadline: float | None = None,
        clock: Callable[[], float] | None = None,
        recording: str | Path | None = None,
        threads: int = 1,
        provider: str = "cpu",
        trust: Literal["code"] | None = None,
        allow_native: bool = False,
    ) -> None:
        expect_one_of(("hold", "linear"), interpolation, "interpolation")
        expect_one_of(("code", None), trust, "trust")
        find_onnxruntime()
        settings = {
            "engine": {"threads": threads, "provider": provider},
            "trust": trust,
            "allow_native": allow_native,
            "frequency": frequency,
            "linear": interpolation == "linear",
            "worker": worker,
            "deadline": deadline,
            "blend_in": 0.0,
            "clock": clock,
            "recording": recording,
        }
        super().__init__(supervision, robot, settings)

    def switches(self) -> list[SwitchRecord]:
        """Return the last decisions, oldest first; at most 256 are kept."""
        return [SwitchRecord(*one) for one in self._switches()]

    def interventions(self, policy: str) -> list[Intervention]:
        """Return the last interventions for a policy, oldest first; at most 256 are kept."""
        return [Intervention(*one) for one in self._interventions(policy)]
