"""Random descriptions of supervisors, robots and sequences, from a seed."""

from __future__ import annotations

import json
import math
from copy import copy
from dataclasses import dataclass
from typing import Any

from controller_reference import Options, Port, Reference, spread
from controller_sequences import TICKS, Generator, to_yaml, without_infinity
from supervisor_reference import STOP, Rule, SupervisorReference

NAMES = ["stand", "walk", "get_up"]
FLAGS = ["pause", "fallen"]


@dataclass
class Policy:
    bundle: dict[str, Any]
    options: Options
    inputs: list[Port]
    outputs: list[Port]


@dataclass
class Case:
    robot: dict[str, Any]
    supervision: dict[str, Any]
    policies: list[Policy]
    rules: list[Rule]
    flags: list[str]  # in the order of the rules that name them
    sequence: list[dict[str, Any]]

    def reference(self) -> SupervisorReference:
        sizes = [
            [len(signal["elements"]) for signal in self.robot[side].values()]
            for side in ("sensors", "actuators")
        ]
        return SupervisorReference(
            [Reference(one.options, one.inputs, one.outputs, *sizes) for one in self.policies],
            self.rules,
        )

    def line(self) -> str:
        """Return the case for the C++ program, as a line of JSON."""
        options = self.policies[0].options
        return json.dumps(
            {
                "supervision": to_yaml(self.supervision),
                "robot": to_yaml(self.robot),
                "bundles": [to_yaml(one.bundle) for one in self.policies],
                "options": {
                    "linear": False,
                    "worker": options.worker,
                    "deadline": options.deadline,
                    "blend_in": 0,
                },
                "ticks": without_infinity(self.sequence),
            }
        )


class SupervisorGenerator(Generator):
    """The first policy is that of a controller case; the others are bound to the same robot."""

    varied = False

    def make_policy(self) -> Policy:
        """Of the ports that were added last."""
        case = super().bundle_of_ports()
        ports = case["models"]["pi"]["outputs"]
        ports.append({"name": "done", "dtype": "bool", "type": "tensor", "shape": [1, 2]})
        dtype = self.random.choice(["float32", "float64", "int32", "int64"])
        names = [None, ["left", "right"]]
        ports.append(
            {
                "name": "score",
                "dtype": dtype,
                "type": "tensor",
                "shape": [1, 2],
                "element_names": names,
            }
        )
        case["pipeline"]["outputs"]["pi"] += ["done", "score"]
        options = Options(self.rate, self.decimation, linear=self.maybe(0.4))
        inputs, outputs = [port for _, port in self.inputs], [port for _, port in self.outputs]
        return Policy(case, options, inputs, outputs)

    def next_ports(self) -> None:
        """Add a policy on the same robot, with other inputs and the same actuators."""
        drives = [(one["kind"], port.role) for one, port in self.outputs]
        self.decimation = self.random.choice([1, 2, 3])
        self.inputs, self.outputs, self.ranges = [], [], {}
        names = list(self.robot["sensors"])
        for name in self.random.sample(names, self.random.randint(1, len(names))):
            signal = self.robot["sensors"][name]
            self.add_input(
                name, signal["kind"], self.shuffled(signal["elements"]), self.units(name)
            )
        for (kind, role), name in zip(drives, self.robot["actuators"], strict=True):
            self.add_output(name, kind, role, self.units(name))

    def units(self, name: str) -> list[str | None]:
        units: dict[str, list[str | None]] = {
            "q": [None, "rad", "deg"],
            "dq": [None, "rad/s", "deg/s", "rpm"],
            "attitude": [None],
            "cmd": [None, "m/s", "km/h", "cm/s"],
            "target": [None, "rad", "deg"],
            "kp": [None, "Nm/rad", "Nm/deg"],
            "kd": [None, "Nms/rad", "Nms/deg"],
            "speed": [None, "rad/s", "deg/s", "rpm"],
        }
        return units[name]

    # --- The description -------------------------------------------------------------------------

    def threshold(self, described: dict[str, Any], rule: Rule) -> None:
        if self.maybe(0.7):
            rule.above = described["above"] = round(self.random.uniform(-1, 3), 1)
        if rule.above is None or self.maybe(0.2):
            rule.below = described["below"] = round(self.random.uniform(-3, 0), 1)

    def condition(self, rule: Rule, policies: list[Policy], flags: list[str]) -> dict[str, Any]:
        kinds = ["flag", "sensor"] + (["port"] * 4 if rule.origin is not None else [])
        rule.source = self.random.choice(kinds)
        described: dict[str, Any]
        if rule.source == "flag":
            name = self.random.choice(FLAGS)
            if name not in flags:
                flags.append(name)
            rule.of = flags.index(name)
            return {"flag": name}
        if rule.source == "sensor":
            sensors = list(self.robot["sensors"])
            sensor = self.random.randrange(len(sensors))
            described = {"sensor": sensors[sensor]}
            elements = self.robot["sensors"][sensors[sensor]]["elements"]
            rule.of = (sensor, list(range(len(elements))))
            if self.maybe(0.6):
                element = self.random.randrange(len(elements))
                rule.of = (sensor, [element])
                described["element"] = elements[element]
            self.threshold(described, rule)
            return described
        rule.truth = self.maybe(0.5)
        rule.of = (0 if rule.truth else 1, [0, 1])
        described = {"port": "pi/done" if rule.truth else "pi/score"}
        if not rule.truth:
            self.threshold(described, rule)
            if self.maybe(0.5):
                rule.of = (1, [1])
                described["element"] = "right"
        return described

    def make_rules(
        self, policies: list[Policy], flags: list[str]
    ) -> tuple[list[Rule], list[dict[str, Any]]]:
        rules, described = [], []
        for _ in range(self.random.randint(1, 5)):
            origin = self.random.choice([None, *range(len(policies))])
            targets: list[int | str] = [p for p in range(len(policies)) if p != origin]
            target = STOP if self.maybe(0.12) else self.random.choice(targets)
            rule = Rule(origin, target, "flag", None)
            one: dict[str, Any] = {"to": STOP if target == STOP else NAMES[int(target)]}
            if origin is not None:
                one["from"] = NAMES[origin]
            one["when"] = self.condition(rule, policies, flags)
            rules.append(rule)
            described.append(one)
        return rules, described

    def add_fallback(self, supervision: dict[str, Any], policies: list[Policy]) -> None:
        fallback: dict[str, Any] = {}
        for a, (name, signal) in enumerate(self.robot["actuators"].items()):
            if self.maybe(0.4):
                continue
            count = len(signal["elements"])
            numbers = [self.number() for _ in range(count)]
            fallback[name] = self.random.choice(["hold", "damp", numbers, numbers[0]])
            for policy in policies:
                for port in policy.outputs:
                    if port.elements[0][0] != a:
                        continue
                    port.when_stopped = fallback[name]
                    if not isinstance(fallback[name], str):
                        given = spread(fallback[name], count)
                        port.when_stopped = [given[e] * factor for _, e, factor in port.elements]
        if fallback:
            supervision["fallback"] = fallback

    # --- What happens ----------------------------------------------------------------------------

    def result_of(self, policy: Policy) -> dict[str, Any]:
        self.outputs = [({}, port) for port in policy.outputs]
        result = self.result()
        score = policy.bundle["models"]["pi"]["outputs"][-1]["dtype"]
        if score.startswith("int"):
            scores: list[Any] = [self.random.randint(-4, 4) for _ in range(2)]
        else:
            scores = [self.random.choice([-2.5, -0.5, 0.0, 1.5, 4.0]) for _ in range(2)]
            if self.maybe(0.05):
                scores[self.random.randrange(2)] = math.nan
        result["ports"] = [[self.maybe(0.1), self.maybe(0.1)], scores]
        result["takes"] = self.random.choice([1, 1, 1, 2, 3, 9])
        return result

    def supervisor_case(self) -> Case:
        self.make_robot()
        policies = [self.make_policy()]
        for _ in range(self.random.randint(1, 2)):
            self.next_ports()
            policies.append(self.make_policy())
        tick_ns = round(1e9 / self.rate)
        worker = self.maybe(0.5)
        deadline = self.random.choice([None, 0, tick_ns, 10 * tick_ns]) if worker else None
        supervision: dict[str, Any] = {"policies": {}}
        blend = self.random.choice([0, 0.005, 0.03])
        if blend:
            supervision["blend_in"] = blend
        for name, policy in zip(NAMES, policies, strict=False):
            described: dict[str, Any] = {"bundle": f"{name}.yaml"}
            own = self.random.choice([None, None, 0.0, 0.02])
            if own is not None:
                described["blend_in"] = own
            if policy.options.linear or self.maybe(0.3):
                described["interpolation"] = "linear" if policy.options.linear else "hold"
            policy.options.blend_in = round((blend if own is None else own) * 1e9)
            policy.options.worker, policy.options.deadline = worker, deadline
            supervision["policies"][name] = described
        flags: list[str] = []
        rules, supervision["switches"] = self.make_rules(policies, flags)
        self.add_fallback(supervision, policies)
        return Case(
            self.robot, supervision, policies, rules, flags, self.make_steps(policies, flags)
        )

    def make_steps(self, policies: list[Policy], flags: list[str]) -> list[dict[str, Any]]:
        sequence = []
        set_flags = [False] * len(flags)
        for tick in self.make_sequence():
            set_flags = [value ^ self.maybe(0.1) for value in set_flags]
            step = copy(tick)
            step.pop("result")
            step.pop("takes")
            step.update(
                flags=list(set_flags),
                request=self.random.randrange(len(policies)) if self.maybe(0.12) else None,
                stop=self.maybe(0.02),
                clear=self.maybe(0.08),
                results=[self.result_of(policy) for policy in policies],
            )
            sequence.append(step)
        return sequence


def make_case(seed: int) -> Case:
    while True:  # a refused contract is enough for this case
        made = SupervisorGenerator(seed)
        case = made.supervisor_case()
        if not made.refused:
            return case
        seed += 1_000_003


__all__ = ["TICKS", "Case", "make_case"]
