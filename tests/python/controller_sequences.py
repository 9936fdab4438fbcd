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
    #: Signals of several parts, robots without a measured pose, ports in other forms, restarts.
    varied = True

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random
        self.rate = pick.choice([50.0, 100.0, 200.0, 1000.0, 120.0, 100 / 3, 59.94, 7.0])
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

    def almost(self, value: float) -> float:
        """Return the value, or one that counts as the same number of ticks (R1)."""
        return value * self.random.choice([1, 1, 1 + 4e-7, 1 - 4e-7])

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
            limits["lower"] = self.spread(
                [self.random.choice([-1.5, -0.5, 0.0, -0.0, -math.inf]) for _ in range(count)]
            )
        if self.maybe(0.6):
            limits["upper"] = self.spread(
                [self.random.choice([0.0, 0.5, 2.0, math.inf]) for _ in range(count)]
            )
        if self.maybe(0.5):
            rates = [1.0, 20.0, 37.7, 500.0, 500.0, 1e-300, 1.7e308, math.inf]
            limits["rate"] = self.spread([self.random.choice(rates) for _ in range(count)])
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

    def add_parts(
        self, side: str, name: str, kind: str, elements: list[str], units: list[str | None]
    ) -> None:
        """Add one signal, or two with a part of the elements each, and elements of no port."""
        parts = [elements]
        if self.varied and len(elements) > 1 and self.maybe(0.3):
            middle = self.random.randrange(1, len(elements))
            parts = [elements[:middle], elements[middle:]]
        for i, part in enumerate(parts):
            spare = [f"spare{i}"] if self.varied and elements and self.maybe(0.15) else []
            self.add_signal(
                side, name if i == 0 else f"{name}{i}", kind, self.shuffled(part + spare), units
            )

    def add_decoy(self) -> None:
        """Add a sensor of positions that only measures poses: the ports list the other ones."""
        for signal in self.robot["sensors"].values():
            signal["ports"] = ["pi/q", "pi/q again"]
        unit = self.random.choice([None, "mm", "rad"])
        decoy: dict[str, Any] = {"kind": "state/joint/position", "elements": self.joints}
        if unit:
            decoy["unit"] = unit
        sensors = self.robot["sensors"]
        self.robot["sensors"] = (
            {"decoy": decoy, **sensors} if self.maybe(0.5) else {**sensors, "decoy": decoy}
        )

    def find(self, side: str, kind: str, element: str) -> tuple[int, int, dict[str, Any]]:
        for i, (name, signal) in enumerate(self.robot[side].items()):
            if name != "decoy" and signal["kind"] == kind and element in signal["elements"]:
                return i, signal["elements"].index(element), signal
        raise LookupError(kind, element)

    def find_pose(self, joint: str, unit: str | None) -> tuple[int, int, float] | None:
        """Return the sensor that measures a joint, in a unit that can be converted (R19)."""
        for i, signal in enumerate(self.robot["sensors"].values()):
            given = signal.get("unit")
            if signal["kind"] != "state/joint/position" or joint not in signal["elements"]:
                continue
            if given is None or unit is None or given != "mm":
                return i, signal["elements"].index(joint), unit_factor(given, unit)
        return None

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
        count = len(elements)
        forms: list[tuple[list[int], list[Any]]] = [([1, count], [None, elements])]
        if self.varied:
            forms += [([count], [elements]), ([1, 1, count], [elements])]
            if kind != "state/body/rotation" and not self.time_first:  # numbers are not lists
                forms.append(([count, 1], [elements, None]))
        described["shape"], described["element_names"] = self.random.choice(forms)
        return described, port

    def add_time(self, described: dict[str, Any], port: Port, periods: list[int]) -> None:
        port.steps, port.period = self.random.randint(2, 4), self.random.choice(periods)
        port.time_first = self.time_first
        elements = next(names for names in described["element_names"] if names)
        axes = [("__temporal_axis__", port.steps), (elements, port.count)]
        axes = axes if port.time_first else axes[::-1]
        leading = [1] if not self.varied or self.maybe(0.7) else []
        described["element_names"] = [*(None for _ in leading), *(name for name, _ in axes)]
        described["shape"] = [*leading, *(size for _, size in axes)]
        described["temporal_period_ms"] = self.almost(port.period / self.rate * 1000)

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
        if kind.startswith("command/"):
            for index, element in enumerate(elements):
                if element not in self.ranges and self.maybe(0.3):
                    ranges = [[-0.7, 0.9], [0.25, 0.25], [-math.inf, 1.0], [3.0, 4.0]]
                    self.ranges[element] = self.random.choice(ranges)
                if element in self.ranges:
                    low, high = self.ranges[element]
                    port.ranges[index] = (low, high)
        self.inputs.append((described, port))

    def add_output(
        self,
        name: str,
        kind: str,
        role: str,
        units: list[str | None],
        time: bool = True,
        joints: list[str] | None = None,
    ) -> None:
        elements = self.shuffled(self.joints if joints is None else joints)
        described, port = self.make_port(name, "actuators", kind, elements, units)
        port.role = role
        if time and self.maybe(0.3):
            self.add_time(described, port, [1, 2, 3])
        if role == "position":
            for element, (signal, _, _) in zip(elements, port.elements, strict=True):
                actuator = list(self.robot["actuators"].values())[signal]
                unit = described.get("unit", actuator.get("unit"))
                port.measured.append(self.find_pose(element, unit))
        if self.maybe(0.75):
            choices: list[Any] = ["hold", self.numbers(port.count)]
            if role != "other" and None not in port.measured:
                choices.append("damp")
            port.fallback = self.random.choice(choices)
            if port.fallback not in ("hold", "damp") and self.maybe(0.1):
                port.fallback = self.random.choice([1e308, -1.7e308])
            described["fallback"] = port.fallback
        self.outputs.append((described, port))

    def add_outputs(self, name: str, kind: str, role: str, units: list[str | None]) -> None:
        """Add one output for all joints, or two for a part of them each."""
        joints = self.shuffled(self.joints)
        if not self.varied or self.maybe(0.7):
            self.add_output(name, kind, role, units)
            return
        first = self.random.randint(1, len(joints))
        self.add_output(name, kind, role, units, joints=joints[:first])
        if first < len(joints) and self.maybe(0.7):
            self.add_output(f"{name} of the rest", kind, role, units, joints=joints[first:])

    def make_robot(self) -> None:
        angle: list[str | None] = [None, "rad", "deg"]
        speed: list[str | None] = [None, "rad/s", "deg/s", "rpm"]
        body: list[str | None] = [None, "m/s", "km/h", "cm/s"]
        stiffness: list[str | None] = [None, "Nm/rad", "Nm/deg"]
        damping: list[str | None] = [None, "Nms/rad", "Nms/deg"]
        force: list[str | None] = [None, "Nm"]
        width: list[str | None] = [None, "mm"]
        joints = self.joints
        sensors: list[tuple[str, str, list[str], list[str | None]]] = [
            ("q", "state/joint/position", joints, angle),
            ("dq", "state/joint/velocity", joints, speed),
            ("attitude", "state/body/rotation", [], [None]),
            ("cmd", "command/body/velocity", ["vx", "vy"], body),
        ]
        if self.varied and self.maybe(0.15):  # no pose is measured
            sensors = sensors[1:]
        for name, kind, elements, units in sensors:
            self.add_parts("sensors", name, kind, self.shuffled(elements), units)
        if self.varied and len(sensors) == 4 and self.maybe(0.2):
            self.add_decoy()
        for i, (name, kind, elements, units) in enumerate(sensors):
            if (i > 0 and self.maybe(0.6)) or self.maybe(0.1):
                continue
            self.add_input(name, kind, self.shuffled(elements), units)
            if self.varied and name == "q" and self.maybe(0.15):
                self.add_input("q again", kind, self.shuffled(elements), units)
        if not self.inputs:
            name, kind, elements, units = sensors[0]
            self.add_input(name, kind, self.shuffled(elements), units)
        actuators = [
            ("target", "target/joint/position", "position", angle),
            ("kp", "kp", "zero", stiffness),
            ("kd", "kd", "kd", damping),
            ("speed", "target/joint/velocity", "zero", speed),
        ]
        if self.varied:
            actuators += [
                ("effort", "target/joint/effort", "zero", force),
                ("torques", "target/joint/torques", "zero", force),
                ("grip", "target/gripper/width", "other", width),
            ]
        for i, (name, kind, role, units) in enumerate(actuators):
            if (i == 0 and self.maybe(0.9)) or (i > 0 and self.maybe(0.25)):
                self.add_parts("actuators", name, kind, self.shuffled(joints), units)
                self.add_outputs(name, kind, role, units)
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
                    "restart": self.varied and self.maybe(0.02),
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
        configs: dict[str, Any] = {"frequency": self.almost(self.rate / self.decimation)}
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
            blend_in=self.random.choice([0, 0, 1, 3 * tick_ns, 5 * tick_ns + tick_ns // 3]),
        )
        if any(None in port.measured for _, port in self.outputs):
            options.blend_in = 0
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
