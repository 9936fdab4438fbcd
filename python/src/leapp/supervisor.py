"""Run several bundles on one robot, one at a time: stand, walk, get up.

    supervisor = Supervisor("supervisor.yaml", "robot.yaml")
    supervisor.start()
    while running:  # at the robot's rate
        if joystick_pressed:
            supervisor.request("walk")
        supervisor.set_sensor("joint_pos", encoders)
        supervisor.update()
        send(supervisor.actuator("joint_target"))

It wraps the C++ supervisor. The description in ``supervisor.yaml`` has the policies, the conditions
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

    #: Tick of the loop, since ``start()``.
    tick: int
    #: "switched", "refused", "emergency_stop" or "cleared".
    event: str
    #: The policy that was switched to or refused; otherwise the active one.
    policy: str
    #: Index into the switches of the description; None for a call of the program.
    rule: int | None


class Supervisor(_runtime.Supervisor):
    """Several bundles on one robot. Use one from one thread at a time.

    Args:
        supervision: The ``.yaml`` file that describes policies and switches.
        robot: The ``.yaml`` file that describes the robot.
        frequency: Rate of policies in Hz, if neither description nor bundle has one.
        interpolation: Targets between two results, if the description does not set it.
        worker: Run each policy in a separate thread.
        deadline: Time limit of a policy in seconds; without it, a worker has one period of the
            policy.
        clock: Returns the time in seconds, from any origin; the steady clock without it.
            ``update()`` raises its exceptions.
        recording: An MCAP file to record every signal, port and switch to.
        threads: Number of threads that share the work of one operator.
        provider: Where models run, as for ``InferenceManager``; values stay on the CPU.
        trust: ``"code"`` for bundles whose authors you trust.
        allow_native: Run the C++ nodes that ``leapp build`` compiled.
        noise_seed: Seed of the noise ports, from 0 to 2**64 - 1: equal seeds give equal runs.

    Raises:
        LeappValueError: A description or a bundle is invalid, or they do not match.
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
