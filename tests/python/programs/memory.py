"""Histories, delays and counters."""

from __future__ import annotations

import torch
from torch import nn

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import actor


class _History(Policy):
    """Five observations of four numbers, flattened into a network."""

    def build(self) -> None:
        self.net = actor(20, 3)
        self.buffer = torch.zeros(1, 5, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 4)}

    def finish(self, history: torch.Tensor) -> Ports:
        action = annotate.output_tensors(
            "policy", {"action": self.net(history.flatten(1))}, export_with=self.backend
        )
        return {"policy/action": action}


@program(ticks=100)
class HistoryNewestFirst(_History):
    """A declared state with the newest entry first."""

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        history = annotate.state_tensors("policy", {"history": self.buffer})
        history = torch.cat([obs.unsqueeze(1), history[:, :-1]], dim=1)
        self.buffer = annotate.update_state("policy", {"history": history})
        return self.finish(history)


@program(ticks=100)
class HistoryOldestFirst(_History):
    """A declared state with the newest entry last."""

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        history = annotate.state_tensors("policy", {"history": self.buffer})
        history = torch.cat([history[:, 1:], obs.unsqueeze(1)], dim=1)
        self.buffer = annotate.update_state("policy", {"history": history})
        return self.finish(history)


@program(ticks=100)
class HistoryShiftedInPlace(_History):
    """An undeclared buffer that is shifted and written in place."""

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        self.buffer[:, 1:] = self.buffer[:, :-1].clone()
        self.buffer[:, 0] = obs
        return self.finish(self.buffer)


@program(ticks=100)
class HistoryRolledRegistered(_History):
    """torch.roll and assignment into a registered buffer."""

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        buffer = annotate.register_buffer("policy", {"history": self.buffer})
        buffer[:] = torch.roll(buffer, shifts=-1, dims=1)
        buffer[:, -1] = obs
        return self.finish(buffer)


@program(ticks=100)
class RingBuffer(Policy):
    """A ring with a moving index tensor, in a module."""

    class Ring(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("data", torch.zeros(5, 4))
            self.register_buffer("head", torch.zeros(1, dtype=torch.long))

        def forward(self, obs: torch.Tensor) -> torch.Tensor:
            self.data = self.data.index_copy(0, self.head, obs)
            self.head = (self.head + 1) % 5
            order = (self.head + torch.arange(5)) % 5
            return self.data.index_select(0, order)

    def build(self) -> None:
        self.ring = self.Ring()
        self.net = actor(20, 3)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        annotate.module("policy", self.ring)
        action = annotate.output_tensors(
            "policy", {"action": self.net(self.ring(obs).flatten())}, export_with=self.backend
        )
        return {"policy/action": action}


@program(ticks=100)
class RingBufferInPlace(Policy):
    """A ring written in place through its index tensor; the index advances in place as well."""

    def build(self) -> None:
        self.data = torch.zeros(6, 3)
        self.head = torch.tensor([0])

    def sense(self, rng: torch.Generator) -> Ports:
        return {"ring/obs": normal(rng, 1, 3)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("ring", {"obs": inputs["ring/obs"]})
        self.data[self.head] = obs
        self.head += 1
        self.head %= 6
        mean = annotate.output_tensors(
            "ring",
            {"mean": self.data.mean(0, keepdim=True), "newest": self.data[self.head - 1]},
            export_with=self.backend,
        )
        return {"ring/mean": mean[0], "ring/newest": mean[1]}


@program(ticks=100)
class RingBufferScalarIndex(Policy):
    """The index is a zero-dimensional tensor, the most common form."""

    class Ring(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("data", torch.zeros(4, 3))
            self.register_buffer("head", torch.zeros((), dtype=torch.long))

        def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            oldest = self.data[self.head].clone()
            self.data[self.head] = obs
            self.head = (self.head + 1) % 4
            return oldest, self.data.mean(0)

    def build(self) -> None:
        self.ring = self.Ring()

    def sense(self, rng: torch.Generator) -> Ports:
        return {"ring/obs": normal(rng, 3)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("ring", {"obs": inputs["ring/obs"]})
        annotate.module("ring", self.ring)
        oldest, mean = self.ring(obs)
        oldest, mean = annotate.output_tensors(
            "ring", {"oldest": oldest, "mean": mean}, export_with=self.backend
        )
        return {"ring/oldest": oldest, "ring/mean": mean}


@program(ticks=100)
class ActionDelayLine(Policy):
    """Commands arrive three ticks late, by an in-place queue."""

    def build(self) -> None:
        self.queue = torch.zeros(3, 1, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"delay/wish": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        wish = annotate.input_tensors("delay", {"wish": inputs["delay/wish"]})
        command = self.queue[0].clone()
        self.queue.copy_(torch.cat([self.queue[1:], wish.unsqueeze(0)]))
        command = annotate.output_tensors("delay", {"command": command}, export_with=self.backend)
        return {"delay/command": command}


@program(ticks=100)
class StepCounter(Policy):
    """An integer counter and what depends on it."""

    class Count(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("steps", torch.zeros((), dtype=torch.long))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.steps = self.steps + 1
            return torch.where(self.steps % 4 == 0, -x, x) / self.steps

    def build(self) -> None:
        self.count = self.Count()

    def sense(self, rng: torch.Generator) -> Ports:
        return {"count/x": normal(rng, 3)}

    def step(self, inputs: Ports) -> Ports:
        x = annotate.input_tensors("count", {"x": inputs["count/x"]})
        annotate.module("count", self.count)
        y = annotate.output_tensors("count", {"y": self.count(x)}, export_with=self.backend)
        return {"count/y": y}


@program(ticks=100)
class ColumnByColumn(Policy):
    """One column of a table is written per tick: h[:, i] = x with a known i."""

    def build(self) -> None:
        self.table = torch.zeros(2, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"table/x": normal(rng, 2)}

    def step(self, inputs: Ports) -> Ports:
        x = annotate.input_tensors("table", {"x": inputs["table/x"]})
        for i in range(3, 0, -1):
            self.table[:, i] = self.table[:, i - 1]
        self.table[:, 0] = x
        y = annotate.output_tensors(
            "table", {"y": self.table @ torch.arange(4.0)}, export_with=self.backend
        )
        return {"table/y": y}


@program(ticks=100)
class NestedDictHistory(Policy):
    """Observation groups in nested dicts, each with its history as state."""

    def build(self) -> None:
        self.net = actor(2 * 3 + 2 * 2, 2)
        self.history = {"joint": torch.zeros(1, 2, 3), "imu": torch.zeros(1, 2, 2)}

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs_joint": normal(rng, 1, 3), "policy/obs_imu_gyro": normal(rng, 1, 2)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors(
            "policy",
            {
                "obs": {
                    "joint": inputs["policy/obs_joint"],
                    "imu": {"gyro": inputs["policy/obs_imu_gyro"]},
                }
            },
        )
        states = annotate.state_tensors("policy", self.history)
        old = dict(zip(self.history, states, strict=True))
        new = {
            "joint": torch.stack([obs["joint"], old["joint"][:, 0]], dim=1),
            "imu": torch.stack([obs["imu"]["gyro"], old["imu"][:, 0]], dim=1),
        }
        annotate.update_state("policy", new)
        self.history = new
        flat = torch.cat([value.flatten(1) for value in new.values()], -1)
        action = annotate.output_tensors(
            "policy", {"action": self.net(flat)}, export_with=self.backend
        )
        return {"policy/action": action}


@program(ticks=100)
class SharedBuffer(Policy):
    """Two nodes read and write one buffer in turn."""

    def build(self) -> None:
        self.shared = torch.zeros(4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"writer/x": normal(rng, 4), "reader/y": normal(rng, 4)}

    def step(self, inputs: Ports) -> Ports:
        x, memory = annotate.input_tensors(
            "writer", {"x": inputs["writer/x"], "memory": self.shared}
        )
        first = annotate.output_tensors(
            "writer", {"memory_out": 0.9 * memory + x}, export_with=self.backend
        )
        y, memory = annotate.input_tensors("reader", {"y": inputs["reader/y"], "memory": first})
        self.shared = annotate.output_tensors(
            "reader", {"memory_out": memory * 0.5 - y}, export_with=self.backend
        )
        return {"reader/memory_out": self.shared}


@program(ticks=100)
class PlainAttributeReassigned(Policy):
    """An attribute holds the last output. It is a declared input, so LEAPP finds the feedback."""

    def build(self) -> None:
        self.estimate = torch.full((1, 3), 0.5)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"observer/measured": normal(rng, 1, 3)}

    def step(self, inputs: Ports) -> Ports:
        measured, estimate = annotate.input_tensors(
            "observer", {"measured": inputs["observer/measured"], "estimate": self.estimate}
        )
        new = estimate + 0.3 * (measured - estimate)
        out = annotate.output_tensors("observer", {"new": new}, export_with=self.backend)
        self.estimate = out.detach().clone()
        return {"observer/new": out}
