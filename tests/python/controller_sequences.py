"""Random contracts, robots and sensor sequences for the controller, from a seed."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from typing import Any

from controller_reference import FOREVER, Options, Port, Reference, to_type, unit_factor

JOINTS = ["hip", "knee", "ankle"]
QUATERNIONS = {"wxyz": ["qw", "qx", "qy", "qz"], "xyzw": ["qx", "qy", "qz", "qw"]}
TICKS = 30


@dataclass
class Case:
    bundle: dict[str, Any]
    robot: dict[str, Any]
    options: Options
    inputs: list[Port]
    outputs: list[Port]
    sequence: list[dict[str, Any]]
    refused: bool = False  # the contract is invalid

    def reference(self) -> Reference:
        sizes = [
            [len(signal["elements"]) for signal in self.robot[side].values()]
            for side in ("sensors", "actuators")
        ]
        return Reference(self.options, self.inputs, self.outputs, *sizes)

    def line(self) -> str:
        """Return the case for the C++ program, as a line of JSON."""
        options = self.options
        return json.dumps(
            {
                "bundle": to_yaml(self.bundle),
                "robot": to_yaml(self.robot),
                "options": {
                    "linear": options.linear,
                    "worker": options.worker,
                    "deadline": options.deadline,
                    "blend_in": options.blend_in,
                },
                "ticks": without_infinity(self.sequence),
            }
        )


def to_yaml(value: Any) -> str:
    """JSON is YAML, except for the names of infinity."""
    return json.dumps(value).replace("-Infinity", "-.inf").replace("Infinity", ".inf") + "\n"


def without_infinity(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, list):
        return [without_infinity(item) for item in value]
    if isinstance(value, dict):
        return {key: without_infinity(item) for key, item in value.items()}
    return value


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random
        self.rate = pick.choice([50.0, 100.0, 200.0, 1000.0, 120.0])
        self.decimation = pick.choice([1, 2, 2, 3, 4])
        self.joints = JOINTS[: pick.randint(1, 3)]
        self.robot: dict[str, Any] = {
            "rate": self.rate,
            "joints": self.joints,
            "sensors": {},
            "actuators": {},
        }
        self.refused = False
        self.time_first = True  # of the port under construction
        self.clock = 0
        self.ranges: dict[str, list[float]] = {}
        self.inputs: list[tuple[dict[str, Any], Port]] = []
        self.outputs: list[tuple[dict[str, Any], Port]] = []

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def shuffled(self, names: list[str]) -> list[str]:
        return self.random.sample(names, len(names))

    def number(self) -> float:
        return round(self.random.uniform(-3, 3), self.random.choice([0, 1, 15]))

    def spread(self, numbers: list[float]) -> Any:
        """Return one number for all elements, or one each if elements are the last dimension."""
        return numbers if self.time_first and self.maybe(0.5) else numbers[0]

    def numbers(self, count: int) -> Any:
        return self.spread([self.number() for _ in range(count)])

    def limits(self, count: int) -> dict[str, Any] | None:
        if self.maybe(0.35):
            return None
        limits: dict[str, Any] = {}
        if self.maybe(0.6):
            limits["lower"] = self.random.choice([-1.5, -0.5, -math.inf])
        if self.maybe(0.6):
            limits["upper"] = self.spread(
                [self.random.choice([0.5, 2.0, math.inf]) for _ in range(count)]
            )
        if self.maybe(0.5):
            limits["rate"] = self.spread(
                [self.random.choice([1.0, 20.0, 37.7, 500.0]) for _ in range(count)]
            )
            if self.maybe(0.02):
                limits["rate"] = self.random.choice([0.0, -1.0])
                self.refused = True
        if self.maybe(0.25):
            limits["on_violation"] = "stop"
        return limits

    # --- Signals and ports -----------------------------------------------------------------------

    def add_signal(
        self, side: str, name: str, kind: str, elements: list[str], units: list[str | None]
    ) -> None:
        unit = self.random.choice(units)
        signal: dict[str, Any] = {"kind": kind, "elements": elements}
        if unit:
            signal["unit"] = unit
        if kind == "state/body/rotation":
            order = self.random.choice(list(QUATERNIONS))
            signal.update(quaternion=order, elements=QUATERNIONS[order])
        self.robot[side][name] = signal

    def find(self, side: str, kind: str, element: str) -> tuple[int, int, dict[str, Any]]:
        for i, signal in enumerate(self.robot[side].values()):
            if signal["kind"] == kind and element in signal["elements"]:
                return i, signal["elements"].index(element), signal
        raise LookupError(kind, element)

    def make_port(
        self, name: str, side: str, kind: str, elements: list[str], units: list[str | None]
    ) -> tuple[dict[str, Any], Port]:
        self.time_first = kind == "state/body/rotation" or self.maybe(0.7)
        dtype = self.random.choice(["float32", "float32", "float64"])
        described: dict[str, Any] = {"name": name, "dtype": dtype, "type": "tensor", "kind": kind}
        unit = self.random.choice(units)
        if unit:
            described["unit"] = unit
        if kind == "state/body/rotation":
            order = self.random.choice(list(QUATERNIONS))
            described["quaternion"] = order
            elements = QUATERNIONS[order]
        sources = []
        for element in elements:
            signal, index, found = self.find(side, kind, element)
            sources.append((signal, index, unit_factor(found.get("unit"), unit)))
        port = Port(dtype, sources, self.limits(len(elements)))
        if port.limits is not None:
            described["limits"] = port.limits
        described["shape"] = [1, len(elements)]
        described["element_names"] = [None, elements]
        return described, port

    def add_time(self, described: dict[str, Any], port: Port, periods: list[int]) -> None:
        port.steps, port.period = self.random.randint(2, 4), self.random.choice(periods)
        port.time_first = self.time_first
        elements = described["element_names"][1]
        axes = [("__temporal_axis__", port.steps), (elements, port.count)]
        axes = axes if port.time_first else axes[::-1]
        described["element_names"] = [None, *(name for name, _ in axes)]
        described["shape"] = [1, *(size for _, size in axes)]
        described["temporal_period_ms"] = port.period / self.rate * 1000

    def add_input(
        self,
        name: str,
        kind: str,
        elements: list[str],
        units: list[str | None],
        time: bool = True,
    ) -> None:
        described, port = self.make_port(name, "sensors", kind, elements, units)
        if self.maybe(0.4):
            most = self.random.choice([0.6, 1.0, 2.5, 10.0]) * 1000 / self.rate
            port.max_age_ms = described["max_age_ms"] = self.random.choice([most, most, 1e300])
        if time and self.maybe(0.4):
            d = self.decimation
            self.add_time(described, port, [1, d, 2 * d] if d != 4 else [1, 2, 4, 8])
            history: dict[str, Any] = {}
            if self.maybe(0.5):
                history["order"] = self.random.choice(["oldest_first", "newest_first"])
                port.newest_first = history["order"] == "newest_first"
            if self.maybe(0.5):
                history["start"] = self.random.choice(["repeat", self.numbers(port.count)])
                port.start = None if history["start"] == "repeat" else history["start"]
            if history:
                described["history"] = history
        if kind.startswith("command/") and self.maybe(0.5):
            index = self.random.randrange(port.count)
            self.ranges[elements[index]] = [-0.7, 0.9]
            port.ranges[index] = (-0.7, 0.9)
        self.inputs.append((described, port))

    def add_output(
        self, name: str, kind: str, role: str, units: list[str | None], time: bool = True
    ) -> None:
        elements = self.shuffled(self.joints)
        described, port = self.make_port(name, "actuators", kind, elements, units)
        port.role = role
        if time and self.maybe(0.3):
            self.add_time(described, port, [1, 2, 3])
        if role == "position":
            for element, (signal, _, _) in zip(elements, port.elements, strict=True):
                sensor, index, found = self.find("sensors", "state/joint/position", element)
                actuator = list(self.robot["actuators"].values())[signal]
                unit = described.get("unit", actuator.get("unit"))
                port.measured.append((sensor, index, unit_factor(found.get("unit"), unit)))
        if self.maybe(0.75):
            port.fallback = self.random.choice(["hold", "damp", self.numbers(port.count)])
            described["fallback"] = port.fallback
        self.outputs.append((described, port))

    def make_robot(self) -> None:
        angle: list[str | None] = [None, "rad", "deg"]
        speed: list[str | None] = [None, "rad/s", "deg/s", "rpm"]
        body: list[str | None] = [None, "m/s", "km/h", "cm/s"]
        stiffness: list[str | None] = [None, "Nm/rad", "Nm/deg"]
        damping: list[str | None] = [None, "Nms/rad", "Nms/deg"]
        joints = self.joints
        sensors = [
            ("q", "state/joint/position", joints, angle),
            ("dq", "state/joint/velocity", joints, speed),
            ("attitude", "state/body/rotation", [], [None]),
            ("cmd", "command/body/velocity", ["vx", "vy"], body),
        ]
        for i, (name, kind, elements, units) in enumerate(sensors):
            self.add_signal("sensors", name, kind, self.shuffled(elements), units)
            if i > 0 and self.maybe(0.6):
                continue
            if i > 0 or self.maybe(0.9):
                self.add_input(name, kind, self.shuffled(elements), units)
        if not self.inputs:
            self.add_input("q", sensors[0][1], self.shuffled(joints), angle)
        actuators = [
            ("target", "target/joint/position", "position", angle),
            ("kp", "kp", "zero", stiffness),
            ("kd", "kd", "kd", damping),
            ("speed", "target/joint/velocity", "zero", speed),
        ]
        for i, (name, kind, role, units) in enumerate(actuators):
            if (i == 0 and self.maybe(0.9)) or (i > 0 and self.maybe(0.25)):
                self.add_signal("actuators", name, kind, self.shuffled(joints), units)
                self.add_output(name, kind, role, units)
        if not self.outputs:
            self.add_signal("actuators", "target", actuators[0][1], self.shuffled(joints), angle)
            self.add_output("target", actuators[0][1], "position", angle)

    # --- What happens ----------------------------------------------------------------------------

    def measurement(self, count: int, age: int) -> dict[str, Any]:
        values = [self.number() for _ in range(count)]
        if self.maybe(0.04):
            odd = [math.nan, math.inf, -math.inf, 1e39, 3.4e38, 1e308, -0.0]
            values[self.random.randrange(count)] = self.random.choice(odd)
        return {"values": values, "age": age}

    def result(self) -> dict[str, Any]:
        outputs = []
        for _, port in self.outputs:
            values = [self.number() for _ in range(port.count * port.steps)]
            if self.maybe(0.03):
                odd = [math.nan, math.inf, 3e38, 2001.0]
                if port.dtype == "float64":
                    odd += [1e308, -1.7e308]
                values[self.random.randrange(len(values))] = self.random.choice(odd)
            outputs.append([v if not math.isfinite(v) else to_type(v, port.dtype) for v in values])
        kind = self.random.choices(["good", "failed", "not_finite"], [0.9, 0.06, 0.04])[0]
        return {"kind": kind, "late": self.maybe(0.05), "outputs": outputs}

    def make_sequence(self) -> list[dict[str, Any]]:
        tick_ns = round(1e9 / self.rate)
        clock = self.random.choice([0, 10**18, -(10**15), -FOREVER - 1])
        quiet = self.maybe(0.3)  # all sensors work normally
        sequence = []
        for _ in range(TICKS):
            sensors: list[dict[str, Any] | None] = []
            for signal in self.robot["sensors"].values():
                age = 0
                if not quiet and self.maybe(0.08):
                    age = self.random.choice([tick_ns, 3 * tick_ns, 10**10, FOREVER])
                given = self.measurement(len(signal["elements"]), age)
                if quiet:
                    given["values"] = [self.number() for _ in signal["elements"]]
                sensors.append(given if quiet or self.maybe(0.85) else None)
            sequence.append(
                {
                    "clock": clock,
                    "sensors": sensors,
                    "takes": self.random.choice([1, 1, 1, 2, 3, 9]),
                    "result": self.result(),
                }
            )
            step = tick_ns
            if not quiet and self.maybe(0.06):
                step = self.random.choice([0, 10 * tick_ns, -5 * tick_ns, -(10**17), 8 * 10**18])
            clock = min(max(clock + step, -FOREVER - 1), FOREVER)
        return sequence

    def bundle_of_ports(self) -> dict[str, Any]:
        """Return a bundle of one node with the ports that were added."""
        names = [
            [described["name"] for described, _ in side] for side in (self.inputs, self.outputs)
        ]
        configs: dict[str, Any] = {"frequency": self.rate / self.decimation}
        if self.ranges:
            configs["command_ranges"] = self.ranges
        # An input and an output may have the same name.
        return {
            "models": {
                "pi": {
                    "inputs": [described for described, _ in self.inputs],
                    "outputs": [described for described, _ in self.outputs],
                    "parameters": dict.fromkeys(("model_path", "md5sum", "sha256sum", "backend")),
                }
            },
            "pipeline": {
                "configs": configs,
                "data_flow": {},
                "feedback_flow": {},
                "inputs": {"pi": names[0]},
                "outputs": {"pi": names[1]},
            },
            "system information": {"leapp config version": "1.3"},
        }

    def case(self) -> Case:
        self.make_robot()
        worker = self.maybe(0.5)
        tick_ns = round(1e9 / self.rate)
        options = Options(
            self.rate,
            self.decimation,
            linear=self.maybe(0.4),
            worker=worker,
            blend_in=self.random.choice([0, 0, 3 * tick_ns, 5 * tick_ns + tick_ns // 3]),
        )
        if worker and self.maybe(0.5):
            options.deadline = self.random.choice([0, tick_ns, 2 * tick_ns + 1, 10 * tick_ns])
        bundle = self.bundle_of_ports()
        return Case(
            bundle,
            self.robot,
            options,
            [port for _, port in self.inputs],
            [port for _, port in self.outputs],
            self.make_sequence(),
            self.refused,
        )


def make_case(seed: int) -> Case:
    return Generator(seed).case()


__all__ = ["Case", "make_case"]
