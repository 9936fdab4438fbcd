"""Programs whose nodes run at different rates, as users write them.

Each has the same face: :meth:`Program.reset` begins an episode and :meth:`Program.tick` runs one
tick on the inputs of all nodes, by ``"node/port"``. It returns the latest outputs of all nodes that
have run. No program contains a schedule.
"""

# ruff: noqa: RUF012 (one program per class; RandomRates sets the attributes per instance)

from __future__ import annotations

import random
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from leapp import annotate

SIZE = 4
Values = dict[str, Tensor]


class Program:
    """One program; ``shapes`` are those of the inputs that the world supplies."""

    shapes: dict[str, tuple[int, ...]] = {}
    #: The expected schedule.
    schedule: dict[str, dict[str, Any]] = {}
    #: The argument of ``leapp.start(schedule=..)``.
    stated: dict[str, dict[str, Any]] | None = None
    #: Ticks to trace.
    traced = 20

    def __init__(self, backend: str = "onnx") -> None:
        torch.manual_seed(1)
        self.backend = backend
        self.latest: Values = {}
        self.reset()

    def reset(self) -> None:
        """Begin an episode."""
        self.t = 0
        self.latest = {}

    def tick(self, given: Values) -> Values:
        """Run one tick."""
        with torch.no_grad():
            self.run(given)
        self.t += 1
        return dict(self.latest)

    def run(self, given: Values) -> None:
        """The tick itself."""
        raise NotImplementedError

    def node(self, name: str, inputs: Values, compute: Any) -> Tensor:
        """One annotated node with one output."""
        port, function = compute
        received = annotate.input_tensors(name, inputs)
        values = [received] if isinstance(received, Tensor) else list(received)
        result: Tensor = annotate.output_tensors(
            name, {port: function(*values)}, export_with=self.backend
        )
        self.latest[f"{name}/{port}"] = result
        return result

    def draw(self, generator: torch.Generator) -> Values:
        """Random inputs of one tick."""
        return {
            name: torch.randn(shape, generator=generator) for name, shape in self.shapes.items()
        }


class PlannerAndTracker(Program):
    """A recurrent planner at 10 Hz and a tracker with feedback at 50 Hz."""

    shapes = {"planner/obs": (1, SIZE), "tracker/state": (1, SIZE)}
    schedule = {"planner": {"every": 5}}

    def __init__(self, backend: str = "onnx") -> None:
        torch.manual_seed(1)
        self.cell = nn.GRUCell(SIZE, SIZE)
        self.policy = nn.Linear(3 * SIZE, SIZE)
        super().__init__(backend)

    def reset(self) -> None:
        super().reset()
        self.hidden = torch.zeros(1, SIZE)
        self.last = torch.zeros(1, SIZE)
        self.goal = torch.zeros(1, SIZE)

    def plan(self, obs: Tensor) -> Tensor:
        self.hidden = self.cell(obs, self.hidden)
        return self.hidden * 2

    def run(self, given: Values) -> None:
        if self.t % 5 == 0:
            self.goal = self.node("planner", {"obs": given["planner/obs"]}, ("goal", self.plan))
        inputs = {"state": given["tracker/state"], "goal": self.goal, "last": self.last}
        self.last = self.node(
            "tracker", inputs, ("u", lambda *x: torch.tanh(self.policy(torch.cat(x, -1))))
        )


class EncoderOncePerChunk(Program):
    """An encoder once per chunk; the tracker plays the chunk by a counter that it keeps."""

    shapes = {"encoder/image": (1, 3, 8, 8), "play/state": (1, SIZE)}
    schedule = {"encoder": {"every": 8}, "play": {"age": {"k": "encoder"}}}
    stated = {"play": {"age": {"k": "encoder"}}}

    def __init__(self, backend: str = "onnx") -> None:
        torch.manual_seed(2)
        self.vision = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(4 * 36, 8 * SIZE)
        super().__init__(backend)

    def run(self, given: Values) -> None:
        if self.t % 8 == 0:
            self.chunk = self.node(
                "encoder",
                {"image": given["encoder/image"]},
                ("chunk", lambda image: self.head(self.vision(image)).reshape(8, SIZE)),
            )
        k = torch.tensor([self.t % 8])
        self.node(
            "play",
            {"chunk": self.chunk, "k": k, "state": given["play/state"]},
            ("u", lambda chunk, k, state: chunk.index_select(0, k) - 0.1 * state),
        )


class Denoiser(Program):
    """Ten denoising steps in every tick, from noise that the world supplies."""

    shapes = {"encoder/obs": (1, SIZE), "denoise/x": (1, SIZE)}
    schedule = {"denoise": {"repeat": 10, "carry": {"x_next": "x"}, "index": "step"}}
    traced = 3

    def __init__(self, backend: str = "onnx") -> None:
        torch.manual_seed(3)
        self.encoder = nn.Linear(SIZE, SIZE)
        self.net = nn.Linear(2 * SIZE, SIZE)
        self.scales = torch.linspace(0.1, 1.0, 10)
        super().__init__(backend)

    def step(self, x: Tensor, z: Tensor, step: Tensor) -> Tensor:
        noise = torch.tanh(self.net(torch.cat([x, z], -1)))
        return x - noise * self.scales.index_select(0, step)

    def run(self, given: Values) -> None:
        z = self.node("encoder", {"obs": given["encoder/obs"]}, ("z", self.encoder))
        x = given["denoise/x"]
        for i in range(10):
            inputs = {"x": x, "z": z, "step": torch.tensor([i])}
            x = self.node("denoise", inputs, ("x_next", self.step))
        self.node("decoder", {"sample": x}, ("action", lambda x: x.clamp(-1, 1) * 0.5))


class SlowDenoiser(Denoiser):
    """A diffusion policy at a quarter of the rate of its tracker."""

    shapes = {**Denoiser.shapes, "tracker/state": (1, SIZE)}
    schedule = {
        "encoder": {"every": 4},
        "denoise": {"every": 4, **Denoiser.schedule["denoise"]},
        "decoder": {"every": 4},
    }
    traced = 9

    def run(self, given: Values) -> None:
        if self.t % 4 == 0:
            super().run(given)
        inputs = {"action": self.latest["decoder/action"], "state": given["tracker/state"]}
        self.node("tracker", inputs, ("u", lambda action, state: action - state))


class DetectorOnRequest(Program):
    """A detector that runs when a gate asks for it."""

    shapes = {"gate/motion": (1,), "detector/image": (2, SIZE), "policy/state": (1, SIZE)}
    schedule = {"detector": {"when": "gate/wanted"}}

    def run(self, given: Values) -> None:
        wanted = self.node(
            "gate", {"motion": given["gate/motion"]}, ("wanted", lambda x: x.abs() > 0.7)
        )
        if wanted:
            self.box = self.node(
                "detector", {"image": given["detector/image"]}, ("box", lambda x: x.sum(0) * 2)
            )
        if "detector/box" not in self.latest:
            self.box = torch.zeros(SIZE)
        inputs = {"box": self.box, "state": given["policy/state"]}
        self.node("policy", inputs, ("u", lambda box, state: torch.sin(box) + state))


class MapAfterSensing(Program):
    """A slow node late in the tick, first in tick 1, whose result the fast one reads."""

    shapes = {"sense/x": (SIZE,)}
    schedule = {"map": {"every": 3, "phase": 1}}
    stated = {"map": {"every": 3, "phase": 1}}  # it could also be early in the next tick

    def reset(self) -> None:
        super().reset()
        self.map = torch.full((SIZE,), 0.25)

    def run(self, given: Values) -> None:
        inputs = {"x": given["sense/x"], "map": self.map}
        y = self.node("sense", inputs, ("y", lambda x, m: torch.tanh(x + m)))
        if self.t % 3 == 1:
            self.map = self.node("map", {"y": y}, ("grid", lambda y: y.cumsum(0)))


class SharedGoal(Program):
    """A planner that writes its goal in place into a buffer that the tracker reads."""

    shapes = {"planner/obs": (SIZE,), "tracker/state": (SIZE,)}
    schedule = {"planner": {"every": 4}}

    def reset(self) -> None:
        super().reset()
        if not hasattr(self, "goal"):
            self.goal = torch.zeros(SIZE)
        self.goal.zero_()

    def plan(self, obs: Tensor) -> Tensor:
        self.goal.copy_(obs * 2 + 0.5 * self.goal)
        return self.goal.sum(0, keepdim=True)

    def run(self, given: Values) -> None:
        if self.t % 4 == 0:
            self.node("planner", {"obs": given["planner/obs"]}, ("cost", self.plan))
        inputs = {"state": given["tracker/state"]}
        self.node("tracker", inputs, ("u", lambda state: self.goal - state))


class ScaledBetween(Program):
    """A computation between two nodes of different rates."""

    shapes = {"planner/obs": (SIZE,), "tracker/state": (SIZE,)}
    schedule = {"planner": {"every": 4}}

    def run(self, given: Values) -> None:
        if self.t % 4 == 0:
            self.goal = self.node("planner", {"obs": given["planner/obs"]}, ("goal", torch.sin))
        inputs = {"state": given["tracker/state"], "target": self.goal * 3 - 1}
        self.node("tracker", inputs, ("u", lambda state, target: target - state))


class ThreeRates(Program):
    """Rates of 1, 2 and 6, each with a state."""

    shapes = {"map/scan": (SIZE,), "plan/obs": (SIZE,), "act/state": (SIZE,)}
    schedule = {"map": {"every": 6}, "plan": {"every": 2}}

    def reset(self) -> None:
        super().reset()
        self.memory = {name: torch.zeros(SIZE) for name in ("map", "plan", "act")}

    def filtered(self, name: str, value: Tensor) -> Tensor:
        self.memory[name] = 0.7 * self.memory[name] + value
        return self.memory[name] + 0

    def run(self, given: Values) -> None:
        if self.t % 6 == 0:
            self.grid = self.node(
                "map", {"scan": given["map/scan"]}, ("grid", lambda x: self.filtered("map", x))
            )
        if self.t % 2 == 0:
            self.path = self.node(
                "plan",
                {"obs": given["plan/obs"], "grid": self.grid},
                ("path", lambda x, g: self.filtered("plan", x * g)),
            )
        self.node(
            "act",
            {"state": given["act/state"], "path": self.path},
            ("u", lambda x, p: self.filtered("act", torch.tanh(p - x))),
        )


ALL = [
    PlannerAndTracker,
    EncoderOncePerChunk,
    Denoiser,
    SlowDenoiser,
    DetectorOnRequest,
    MapAfterSensing,
    SharedGoal,
    ScaledBetween,
    ThreeRates,
]


class RandomRates(Program):
    """Two to four nodes with random rates, wires, states and loops."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.names = [f"n{i}" for i in range(draw.randint(2, 4))]
        self.every = {name: draw.choice([1, 1, 2, 3, 4]) for name in self.names}
        self.every[draw.choice(self.names)] = 1
        self.phase = {
            name: draw.choice([0, 0, draw.randrange(every)]) for name, every in self.every.items()
        }
        self.repeat = {name: draw.choice([1, 1, 1, 3]) for name in self.names}
        self.keeps = {name for name in self.names if draw.random() < 0.4}
        self.reads = {
            name: [other for other in self.names if draw.random() < 0.4] for name in self.names
        }
        self.shapes = {f"{name}/x": (SIZE,) for name in self.names}
        self.traced = 4 * max(self.every.values()) + 3
        super().__init__()

    def reset(self) -> None:
        super().reset()
        self.values = {name: torch.zeros(SIZE) for name in self.names}
        self.memory = {name: torch.zeros(SIZE) for name in self.names}

    def compute(self, name: str, *values: Tensor) -> Tensor:
        """Return the result of a node; its index determines its computation."""
        total = sum((value * (0.3 + 0.2 * i) for i, value in enumerate(values)), torch.zeros(SIZE))
        if name in self.keeps:
            self.memory[name] = torch.tanh(0.5 * self.memory[name] + total)
            total = total + self.memory[name]
        return torch.tanh(total + 0.1 * self.names.index(name))

    def run(self, given: Values) -> None:
        for name in self.names:
            if self.t % self.every[name] != self.phase[name]:
                continue
            inputs = {"x": given[f"{name}/x"]}
            inputs |= {f"from_{other}": self.values[other] for other in self.reads[name]}
            for _ in range(self.repeat[name]):
                result = self.node(name, inputs, ("y", partial(self.compute, name)))
                inputs["x"] = result
            self.values[name] = result
