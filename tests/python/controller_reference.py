"""A second implementation of the controller's tick, from docs/reference/controller.md alone.

Plain Python, element by element, as simple as possible. Comments name the rules (R1..).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any

FOREVER = 2**63 - 1
CAUSES = ("clamped", "slewed", "beyond_limits", "not_finite", "stale", "late", "tick_failed")
INACTIVE, WAITING, RUNNING, FALLBACK, STOPPED = range(5)

#: The size of each unit in the first one of its group.
UNITS = {
    "rad": 1.0,
    "deg": math.pi / 180,
    "rad/s": 1.0,
    "deg/s": math.pi / 180,
    "rpm": 2 * math.pi / 60,
    "m/s": 1.0,
    "cm/s": 1e-2,
    "mm/s": 1e-3,
    "km/h": 1 / 3.6,
    "Nm/rad": 1.0,
    "Nm/deg": 1 / (math.pi / 180),
    "Nms/rad": 1.0,
    "Nms/deg": 1 / (math.pi / 180),
    "Nm": 1.0,
    "mm": 1e-3,
}


def unit_factor(signal: str | None, port: str | None) -> float:
    """Return the factor from the unit of a signal to that of a port (R5)."""
    if signal is None or port is None or signal == port:
        return 1.0
    return UNITS[signal] / UNITS[port]


def fits_type(value: float, dtype: str) -> bool:
    if not math.isfinite(value):
        return False
    if dtype == "float64":
        return True
    try:
        struct.pack("<f", value)
    except OverflowError:
        return False
    return True


def to_type(value: float, dtype: str) -> float:
    return value if dtype == "float64" else float(struct.unpack("<f", struct.pack("<f", value))[0])


def ticks_that_cover(seconds: float, rate: float) -> int:
    """Return the number of ticks, rounded up unless it is almost a whole number (R1)."""
    ticks = seconds * rate
    whole = round(ticks)
    return whole if abs(ticks - whole) <= 1e-6 * whole else math.ceil(ticks)


def spread(numbers: Any, count: int) -> list[float]:
    return list(numbers) if isinstance(numbers, list) else [numbers] * count


@dataclass
class Port:
    """The properties of a port that the rules use; elements are (signal, element, factor)."""

    dtype: str
    elements: list[tuple[int, int, float]]
    limits: dict[str, Any] | None = None
    ranges: dict[int, tuple[float, float]] = field(default_factory=dict)
    steps: int = 1
    period: int = 1  # ticks between two steps
    time_first: bool = True  # in memory: steps of elements, or elements of steps
    # inputs
    max_age_ms: float | None = None
    newest_first: bool = False
    start: Any = None  # numbers or None
    # outputs
    role: str = ""  # "position", "zero", "kd"
    fallback: Any = None  # None, "hold", "damp" or numbers
    when_stopped: Any = None  # the fallback of a supervisor, which replaces it
    measured: list[tuple[int, int, float] | None] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.elements)

    def limit(
        self, values: list[float], start: list[float | None], seconds: float
    ) -> tuple[list[float], bool, bool]:
        """Return the limited values, and whether any was clamped or slewed (R15)."""
        clamped = slewed = False
        if self.limits is None and not self.ranges:
            return values, clamped, slewed
        limits = self.limits or {}
        lower = spread(limits.get("lower", -math.inf), self.count)
        upper = spread(limits.get("upper", math.inf), self.count)
        rate = spread(limits["rate"], self.count) if "rate" in limits else None
        result = []
        for i, value in enumerate(values):
            low, high = lower[i], upper[i]
            if i in self.ranges:
                low, high = max(low, self.ranges[i][0]), min(high, self.ranges[i][1])
            within = high if max(value, low) > high else max(value, low)
            clamped |= within != value
            near = within
            before = start[i]
            if rate is not None and before is not None:
                step = rate[i] * seconds
                if near < before - step:
                    near = before - step
                if near > before + step:
                    near = before + step
                slewed |= near != within
            result.append(near)
        return result, clamped, slewed

    @property
    def stops(self) -> bool:
        return bool(self.limits) and (self.limits or {}).get("on_violation") == "stop"

    def place(self, step: int, element: int) -> int:
        if self.time_first:
            return step * self.count + element
        return element * self.steps + step


@dataclass
class Sensor:
    values: list[float]
    measured: bool = False
    age: int = 0


class Axis:
    """The samples of a time axis, oldest first (R7)."""

    def __init__(self, port: Port, every: int) -> None:
        self.port = port
        self.every = every
        self.length = (port.steps - 1) * (port.period // every) + 1
        self.samples: list[list[float]] = []
        self.age = 0
        self.newest_good = False

    def add(self, sample: list[float] | None, age: int, most: int | None) -> None:
        self.newest_good = sample is not None
        if sample is not None:
            self.age = age
        if most is not None and self.age > most:
            self.samples = []
            return
        if sample is None:
            if not self.samples:
                return
            sample = self.samples[-1]
        if not self.samples:
            before = sample if self.port.start is None else spread(self.port.start, self.port.count)
            self.samples = [before] * (self.length - 1)
        self.samples = [*self.samples, sample][-self.length :]

    def steps(self) -> list[list[float]]:
        chosen = self.samples[:: self.port.period // self.every]
        return chosen[::-1] if self.port.newest_first else chosen


class Output:
    def __init__(self, port: Port) -> None:
        self.port = port
        self.sent: list[float] | None = None
        self.from_other = False  # another policy sent that, and this one nothing since
        self.result: list[list[float]] = []  # by step
        self.line_start: list[float] = []
        self.blend_start: list[float] = []


@dataclass
class Options:
    rate: float
    decimation: int
    linear: bool = False
    worker: bool = False
    deadline: int | None = None
    blend_in: int = 0


class Reference:
    def __init__(
        self,
        options: Options,
        inputs: list[Port],
        outputs: list[Port],
        sensors: list[int],
        actuators: list[int],
    ) -> None:
        self.options = options
        self.inputs = inputs
        self.actuators = [[0.0] * count for count in actuators]
        self.period = math.floor(1e9 * options.decimation / options.rate)
        self.blend_ticks = ticks_that_cover(options.blend_in / 1e9, options.rate)
        self.start(sensors, outputs)

    def start(self, sensors: list[int], outputs: list[Port]) -> None:
        """Begin again: only the actuators keep their values."""
        options, inputs = self.options, self.inputs
        self.sensors = [Sensor([0.0] * count) for count in sensors]
        self.outputs = [Output(port) for port in outputs]
        self.axes: dict[int, Axis] = {}
        for i, port in enumerate(inputs):
            if port.steps > 1:
                self.axes[i] = Axis(port, min(port.period, options.decimation))
        self.previous: list[list[float | None]] = [[None] * port.count for port in inputs]
        self.counts = dict.fromkeys(CAUSES, 0)
        self.tick = 0
        self.began = 0  # the tick in which the policy began
        self.handed_over = False  # it began after another one
        self.clock = 0
        self.waited = 0  # since the worker was asked
        self.stopped = self.distrust = False
        self.has_result = False
        self.asked_in = 0
        self.was_late = False
        self.result_tick = 0
        self.blend_began = 0
        #: The request to the worker: None, or the ticks until its answer, and the answer.
        self.worker: tuple[int, dict[str, Any]] | None = None

    # --- Time and inputs -------------------------------------------------------------------------

    def advance(self, clock: int, given: list[dict[str, Any] | None]) -> None:
        passed = 0 if self.tick == 0 else min(max(clock - self.clock, 0), FOREVER)  # R2
        self.clock = clock
        self.waited = min(self.waited + passed, FOREVER)
        for sensor, values in zip(self.sensors, given, strict=True):  # R3
            if values is None:
                sensor.age = min(sensor.age + passed, FOREVER)
            else:
                sensor.values, sensor.age, sensor.measured = values["values"], values["age"], True
        for axis in self.axes.values():
            axis.age = min(axis.age + passed, FOREVER)

    def age_of(self, port: Port) -> int | None:
        """Return the age of the oldest sensor of an input; None if one was never measured."""
        sensors = [self.sensors[signal] for signal, _, _ in port.elements]
        if not all(sensor.measured for sensor in sensors):
            return None
        return max(sensor.age for sensor in sensors)

    def max_age(self, port: Port) -> int | None:
        if port.max_age_ms is None:
            return None
        ns = port.max_age_ms * 1e6
        return FOREVER if ns >= 9.2e18 else math.floor(ns + 0.5)

    def is_stale(self, port: Port) -> bool:  # R4
        age, most = self.age_of(port), self.max_age(port)
        return age is None or (most is not None and age > most)

    def read(self, i: int) -> list[float] | str:
        """Return a good reading, or "bad" or "stop" (R6)."""
        port = self.inputs[i]
        values = [self.sensors[s].values[e] * factor for s, e, factor in port.elements]
        if not all(math.isfinite(value) for value in values):
            self.counts["not_finite"] += 1
            return "bad"
        every = self.axes[i].every if i in self.axes else self.options.decimation
        values, clamped, slewed = port.limit(
            values, self.previous[i], float(every) / self.options.rate
        )
        if port.stops and (clamped or slewed):
            self.counts["beyond_limits"] += 1
            return "stop"
        if not all(fits_type(value, port.dtype) for value in values):
            self.counts["not_finite"] += 1
            return "bad"
        self.counts["clamped"] += clamped
        self.counts["slewed"] += slewed
        self.previous[i] = list(values)
        return values

    def sample(self) -> None:  # R7
        for i, axis in self.axes.items():
            age = self.age_of(axis.port)
            if (self.tick - self.began) % axis.every != 0 or age is None:
                continue
            reading = self.read(i)
            self.stopped |= reading == "stop"
            good = reading if isinstance(reading, list) else None
            axis.add(good, age, self.max_age(axis.port))

    def judge_inputs(self) -> list[list[float]] | None:
        """Return the inputs of the policy, or None if they are unusable (R8, R9)."""
        stale = sum(self.is_stale(port) for port in self.inputs)
        self.counts["stale"] += stale
        if stale:
            return None
        usable = True
        memory = []
        for i, port in enumerate(self.inputs):
            if i in self.axes:
                usable &= self.axes[i].newest_good and bool(self.axes[i].samples)
                steps = self.axes[i].steps() if self.axes[i].samples else []
            else:
                reading = self.read(i)
                self.stopped |= reading == "stop"
                usable &= isinstance(reading, list)
                steps = [reading] if isinstance(reading, list) else []
            flat = [0.0] * (port.count * port.steps)
            for s, step in enumerate(steps):
                for e, value in enumerate(step):
                    flat[port.place(s, e)] = value
            memory.append(flat)
        if not usable:
            return None
        return [
            [to_type(v, port.dtype) for v in flat]
            for port, flat in zip(self.inputs, memory, strict=True)
        ]

    # --- Results ---------------------------------------------------------------------------------

    def take(self, answer: dict[str, Any], asked_in: int) -> bool:
        """R11. Returns whether the result must be discarded."""
        if answer["kind"] == "failed":
            self.counts["tick_failed"] += 1
            self.distrust = True
            return False
        if answer["kind"] == "not_finite":
            self.counts["not_finite"] += 1
            self.distrust = True
            return False
        for values in answer["outputs"]:
            if not all(math.isfinite(value) for value in values):
                self.counts["not_finite"] += 1
                self.distrust = True
                return True
        blends = self.distrust or not self.has_result
        for output, values in zip(self.outputs, answer["outputs"], strict=True):
            port = output.port
            output.result = [
                [values[port.place(s, e)] for e in range(port.count)] for s in range(port.steps)
            ]
            output.line_start = output.sent if output.sent is not None else output.result[0]
            if blends:  # R14
                output.blend_start = [
                    output.result[0][i] if value is None else value
                    for i, value in enumerate(self.start_of(output))
                ]
        if blends:
            self.blend_began = self.tick
        self.has_result, self.result_tick, self.distrust = True, asked_in, False
        return False

    def look_at_worker(self) -> tuple[dict[str, Any] | None, bool]:
        """Return the result that arrived, and whether the worker is busy (R10)."""
        if self.worker is None:
            return None, False
        left, answer = self.worker
        if left == 1:
            self.worker = None
            return answer, False
        self.worker = (left - 1, answer)
        return None, True

    def judge_late(self) -> None:
        if self.options.deadline is not None:
            late = self.waited >= self.options.deadline
        else:
            late = self.waited >= self.period or self.is_due
        if late and not self.was_late:
            self.was_late = self.distrust = True
            self.counts["late"] += 1

    # --- Outputs ---------------------------------------------------------------------------------

    @property
    def is_due(self) -> bool:
        return (self.tick - self.began) % self.options.decimation == 0

    def position(self, source: tuple[int, int, float] | None) -> float | None:  # R19
        if source is None:
            return None
        signal, element, factor = source
        value = self.sensors[signal].values[element] * factor
        return value if self.sensors[signal].measured and math.isfinite(value) else None

    def start_of(self, output: Output) -> list[float | None]:  # R15
        if output.sent is not None:
            return list(output.sent)
        if output.port.role != "position":
            return [None] * output.port.count
        return [self.position(source) for source in output.port.measured]

    def target(self, output: Output) -> list[float]:
        """R13, R14."""
        port, k = output.port, self.tick - self.result_tick
        linear = self.options.linear
        if port.steps == 1:
            a, b = output.line_start, output.result[0]
            p = min(1.0, (k + 1) / self.options.decimation) if linear else 1.0
        else:
            place = min(k / port.period, float(port.steps - 1))
            whole = int(place)
            a = output.result[whole]
            b = output.result[min(whole + 1, port.steps - 1)]
            p = place - whole if linear else 0.0
        if p in (0, 1):
            values = list(b if p == 1 else a)
        else:
            values = [x + p * (y - x) for x, y in zip(a, b, strict=True)]
        i = self.tick - self.blend_began + 1
        if i <= self.blend_ticks and port.role == "position":
            part = i / self.blend_ticks
            values = [c + part * (t - c) for c, t in zip(output.blend_start, values, strict=True)]
        return values

    @staticmethod
    def can_send(output: Output, values: list[float]) -> bool:  # R18
        return all(
            math.isfinite(value / factor)
            for value, (_, _, factor) in zip(values, output.port.elements, strict=True)
        )

    def send(self, output: Output, values: list[float]) -> None:
        for value, (signal, element, factor) in zip(values, output.port.elements, strict=True):
            self.actuators[signal][element] = value / factor
        output.sent = values
        output.from_other = False

    def fallback(self, output: Output) -> list[float] | None:  # R17
        port = output.port
        chosen = port.fallback
        if self.stopped and port.when_stopped is not None:
            chosen = port.when_stopped
        if chosen in (None, "hold") or (chosen == "damp" and port.role == "kd"):
            return output.sent
        values: list[float]
        if chosen != "damp":
            values = spread(chosen, port.count)
        elif port.role == "zero":
            values = [0.0] * port.count
        else:
            values = []
            for i, source in enumerate(port.measured):
                known = self.position(source)
                if known is None:
                    if output.sent is None:
                        return None
                    known = output.sent[i]
                values.append(known)
        values, _, _ = port.limit(values, self.start_of(output), 1 / self.options.rate)
        return values if self.can_send(output, values) else None

    def send_targets(self) -> int | None:
        """Send all targets, or return the state to fall back to (R12, R13 to R16, R18)."""
        stop = infinite = False
        targets = []
        for output in self.outputs:
            values, clamped, slewed = output.port.limit(
                self.target(output), self.start_of(output), 1 / self.options.rate
            )
            self.counts["clamped"] += clamped
            self.counts["slewed"] += slewed
            if output.port.stops and (clamped or slewed):
                self.counts["beyond_limits"] += 1
                stop = True
            if not self.can_send(output, values):
                self.counts["not_finite"] += 1
                infinite = True
            targets.append(values)
        if stop:
            return STOPPED
        if infinite:
            return FALLBACK
        for output, values in zip(self.outputs, targets, strict=True):
            self.send(output, values)
        return None

    def decide(self) -> int:
        """R12."""
        if not self.stopped and not self.distrust:
            if not self.has_result:
                for output in self.outputs:
                    if self.handed_over and output.sent is not None:  # S9
                        self.send(output, output.sent)
                        continue
                    pose = [self.position(source) for source in output.port.measured]
                    known = [value for value in pose if value is not None]
                    position = output.port.role == "position" and len(known) == len(pose)
                    if position and self.can_send(output, known):
                        self.send(output, known)
                return WAITING
            refused = self.send_targets()
            if refused is None:
                return RUNNING
            self.stopped |= refused == STOPPED
            self.distrust = True
        for output in self.outputs:
            values = self.fallback(output)
            if values is not None:
                self.send(output, values)
        return STOPPED if self.stopped else FALLBACK

    def run_tick(self, given: dict[str, Any]) -> dict[str, Any]:
        """Run one tick. The policy's answer is given["result"] or computed by given["policy"]."""
        if given.get("restart"):
            self.start(
                [len(sensor.values) for sensor in self.sensors],
                [output.port for output in self.outputs],
            )
        arrived, busy = self.look_at_worker()
        arrived_for = self.asked_in
        self.advance(given["clock"], given["sensors"])
        self.sample()
        inputs, due = None, not busy and not self.stopped and self.is_due
        if due:
            inputs = self.judge_inputs()
        if inputs is not None and not self.options.worker:
            arrived = given["policy"](inputs) if "policy" in given else given["result"]
            arrived_for = self.tick
            self.counts["late"] += arrived["late"]
        discard = False
        if busy:
            self.judge_late()
        if arrived is not None:
            discard = self.take(arrived, arrived_for)
        if due and inputs is None:
            self.distrust = True
        state = self.decide()
        if inputs is not None and self.options.worker and not self.stopped:
            self.worker = (given["takes"], given["result"])
            self.asked_in, self.waited, self.was_late = self.tick, 0, False
        self.tick += 1
        return {
            "inputs": inputs,
            "state": state,
            "discard": discard,
            "actuators": [list(values) for values in self.actuators],
            "counts": [self.counts[cause] for cause in CAUSES],
        }
