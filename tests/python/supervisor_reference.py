"""A second implementation of the supervisor's tick, from docs/reference/supervisor.md alone.

The tick of the active policy is the one of controller_reference.py. Comments name the rules (S1..).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from controller_reference import Reference

EVENTS = ("switched", "refused", "emergency_stop", "cleared")
STOP = "emergency_stop"


@dataclass
class Rule:
    """A switch; policies are numbers. `of` is (flag,), (sensor, elements) or (port, elements)."""

    origin: int | None
    target: int | str
    source: str  # "flag", "sensor" or "port"
    of: Any
    above: float | None = None
    below: float | None = None
    truth: bool = False  # a bool port

    def holds(self, values: list[Any]) -> bool:
        """Return whether the values meet the rule's condition (S4)."""
        for value in values:
            if self.truth:
                if value:
                    return True
            elif math.isnan(value):
                if self.target == STOP:
                    return True
            elif (self.above is not None and value > self.above) or (
                self.below is not None and value < self.below
            ):
                return True
        return False


class SupervisorReference:
    def __init__(self, policies: list[Reference], rules: list[Rule]) -> None:
        self.policies = policies
        self.rules = rules
        self.active = 0
        self.emergency = False
        self.sent: dict[tuple[int, int], float] = {}  # by element of an actuator
        self.results: list[Any] = []  # the ports of the newest good result, or nothing
        self.refused_before: set[int] = set()
        self.events: list[tuple[int, str, int, int | None]] = []
        for policy in policies[1:]:  # S1
            policy.sensors = policies[0].sensors
            policy.actuators = policies[0].actuators

    @property
    def now(self) -> Reference:
        return self.policies[self.active]

    def note(self, event: str, policy: int, rule: int | None) -> None:
        self.events.append((self.now.tick, event, policy, rule))

    def is_met(self, rule: Rule, given: dict[str, Any]) -> bool:  # S4
        if rule.source == "flag":
            return bool(given["flags"][rule.of])
        if rule.source == "port":
            port, elements = rule.of
            return bool(self.results) and rule.holds([self.results[port][e] for e in elements])
        sensor, elements = rule.of
        measured = self.now.sensors[sensor]
        return measured.measured and rule.holds([measured.values[e] for e in elements])

    def is_busy(self, policy: int) -> bool:
        worker = self.policies[policy].worker
        return worker is not None and worker[0] > 1

    def is_ready(self, policy: int) -> bool:  # S6
        if self.emergency or self.is_busy(policy):
            return False
        reference = self.policies[policy]
        for port in reference.inputs:
            if reference.is_stale(port):
                return False
            for sensor, element, factor in port.elements:
                if not math.isfinite(reference.sensors[sensor].values[element] * factor):
                    return False
        return True

    def begin(self, policy: int) -> None:  # S8
        before, after = self.now, self.policies[policy]
        for output in before.outputs:
            if output.sent is not None and not output.from_other:
                for value, (actuator, element, factor) in zip(
                    output.sent, output.port.elements, strict=True
                ):
                    self.sent[actuator, element] = value / factor
        if before is not after:
            after.tick, after.clock = before.tick, before.clock
            for output in after.outputs:
                elements = output.port.elements
                values = [self.sent.get((a, e), math.nan) * factor for a, e, factor in elements]
                output.sent = values if all(map(math.isfinite, values)) else None
                output.from_other = True
        after.began = after.tick
        after.handed_over = True
        after.stopped = after.distrust = after.has_result = False
        after.worker = None
        for axis in after.axes.values():
            axis.samples, axis.newest_good, axis.age = [], False, 0
        after.previous = [[None] * port.count for port in after.inputs]
        self.active = policy
        self.results = []

    def judge_emergency(self, given: dict[str, Any]) -> None:  # S5
        if given["clear"] and self.emergency:
            self.emergency = False
            self.note("cleared", self.active, None)
        causes: list[int | None] = [None] if given["stop"] else []
        for r, rule in enumerate(self.rules):
            here = rule.origin is None or rule.origin == self.active
            if rule.target == STOP and here and self.is_met(rule, given):
                causes.append(r)
        if causes and not self.emergency:
            self.emergency = True
            self.note("emergency_stop", self.active, causes[0])
        self.now.stopped |= self.emergency

    def follow_request(self, policy: int | None) -> bool:  # S7
        if policy is None or (policy == self.active and not self.now.stopped):
            return False
        ready = self.is_ready(policy)
        self.note("switched" if ready else "refused", policy, None)
        if ready:
            self.begin(policy)
        return ready

    def follow_rules(self, given: dict[str, Any]) -> set[int]:
        """Switch by S7. Return the rules that were refused."""
        refused: set[int] = set()
        for r, rule in enumerate(self.rules):
            if rule.target == STOP:
                continue
            assert isinstance(rule.target, int)
            applies = rule.origin == self.active or (
                rule.origin is None and rule.target != self.active
            )
            if not applies or not self.is_met(rule, given):
                continue
            if self.is_ready(rule.target):
                self.note("switched", rule.target, r)
                self.begin(rule.target)
                break
            refused.add(r)
            if r not in self.refused_before:  # S11
                self.note("refused", rule.target, r)
        return refused

    def run_tick(self, given: dict[str, Any]) -> dict[str, Any]:
        self.now.advance(given["clock"], given["sensors"])  # S3
        self.judge_emergency(given)
        refused: set[int] = set()
        if not self.follow_request(given["request"]) and not self.now.stopped:
            refused = self.follow_rules(given)
        self.refused_before = refused
        active = self.active
        for p, policy in enumerate(self.policies):  # the workers of the other policies continue
            if p != active and policy.worker is not None:
                policy.worker = (max(policy.worker[0] - 1, 0), policy.worker[1])
        pending, answer = self.now.worker, given["results"][active]
        done = self.now.run_tick({**given, "result": answer, "takes": answer["takes"]})
        arrived = None
        if self.now.options.worker:
            if pending is not None and pending[0] == 1:
                arrived = pending[1]
        elif done["inputs"] is not None:
            arrived = answer
        if arrived is not None and arrived["kind"] == "good" and not done["discard"]:
            self.results = arrived["ports"]
        return {
            **done,
            "active": active,
            "emergency": self.emergency,
            "events": [list(event) for event in self.events],
        }
