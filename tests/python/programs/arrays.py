"""State in NumPy arrays and NumPy numbers."""

from __future__ import annotations

import abc
import collections

import numpy as np
import torch
from numpy import median

from leapp import annotate

from . import Policy, Ports, normal, program, trap
from .helpers import FourNumbers, actor


class ArrayPolicy(Policy):
    """A node that computes with four numbers in NumPy."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"filter/x": normal(rng, 4)}

    def step(self, inputs: Ports) -> Ports:
        x = annotate.input_tensors("filter", {"x": inputs["filter/x"]})
        y = torch.as_tensor(self.compute(x.numpy()))
        y = annotate.output_tensors("filter", {"y": y}, export_with=self.backend)
        return {"filter/y": y}

    def buffer(self, **arrays: np.ndarray) -> np.ndarray:
        """Declare an array of the object that the node writes to."""
        declared: np.ndarray = annotate.register_buffer("filter", arrays)
        return declared

    @abc.abstractmethod
    def compute(self, x: np.ndarray) -> np.ndarray | torch.Tensor:
        """Compute the node's result."""


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape or (4,), dtype=np.float32)


@program()
class KalmanFilter(ArrayPolicy):
    """A constant matrix times a state, before either is combined with an input."""

    def build(self) -> None:
        self.model = np.eye(4, dtype=np.float32) + np.eye(4, k=1, dtype=np.float32) * 0.1
        self.state = zeros()

    def compute(self, x: np.ndarray) -> np.ndarray:
        state = self.buffer(state=self.state)
        predicted = self.model @ state
        state[:] = predicted + np.float32(0.5) * (x - predicted)
        return state * 1


@trap()
class KalmanFilterUndeclared(ArrayPolicy):
    """The same, with an array of the object that each tick replaces."""

    def build(self) -> None:
        self.model, self.state = np.eye(4, dtype=np.float32), zeros()

    def compute(self, x: np.ndarray) -> np.ndarray:
        predicted = self.model @ self.state
        self.state = predicted + np.float32(0.5) * (x - predicted)
        return self.state * 1


@program()
class ShiftedRows(ArrayPolicy):
    """A history that is shifted within its own memory, with and without a copy."""

    def build(self) -> None:
        self.rows, self.others = zeros(3, 4), zeros(3, 4)

    def compute(self, x: np.ndarray) -> np.ndarray:
        rows, others = self.buffer(rows=self.rows, others=self.others)
        rows[:-1] = rows[1:].copy()
        rows[-1] = x
        others[1:] = others[:-1]
        others[0] = x
        return (rows * others).sum(axis=0)


@trap()
class ShiftedRowsUndeclared(ArrayPolicy):
    """An array of the object that the node writes to with a plain assignment."""

    def build(self) -> None:
        self.rows = zeros(3, 4)

    def compute(self, x: np.ndarray) -> np.ndarray:
        self.rows[:-1] = self.rows[1:].copy()
        self.rows[-1] = x
        return x + self.rows.sum(axis=0)


@program()
class CopiedRow(ArrayPolicy):
    """The row of the last tick, copied before it is overwritten."""

    def build(self) -> None:
        self.rows = zeros(3, 4)

    def compute(self, x: np.ndarray) -> np.ndarray:
        rows = self.buffer(rows=self.rows)
        last = rows[-1].copy()
        rows[-1] = x
        return x - last


@trap()
class ArrayQueue(ArrayPolicy):
    """A list and a deque of arrays, joined by several functions."""

    def build(self) -> None:
        self.list = [zeros() for _ in range(3)]
        self.deque = collections.deque([zeros() for _ in range(3)], maxlen=3)

    def compute(self, x: np.ndarray) -> np.ndarray:
        self.list.append(x.copy())
        self.list.pop(0)
        self.deque.append(x)
        mean = np.mean(self.list, axis=0) + np.array(self.deque).max(axis=0)
        return mean + np.concatenate(self.deque)[:4] + np.maximum.reduce(self.list)


@trap()
class AppendedRows(ArrayPolicy):
    """np.append() with a list of one array."""

    def build(self) -> None:
        self.rows = zeros(3, 4)

    def compute(self, x: np.ndarray) -> np.ndarray:
        self.rows = np.append(self.rows[1:], [x], axis=0)
        return self.rows.mean(axis=0)


@program()
class CopyTo(ArrayPolicy):
    """np.copyto() to a row of an array."""

    def build(self) -> None:
        self.rows = zeros(3, 4)

    def compute(self, x: np.ndarray) -> np.ndarray:
        rows = self.buffer(rows=self.rows)
        np.copyto(rows[2], x + rows[2] * np.float32(0.5))
        return rows[2] * 1


@trap()
class NumbersAsState(ArrayPolicy):
    """NumPy numbers that are replaced in every tick, and one that is not."""

    def build(self) -> None:
        self.mean, self.last, self.gain = np.float32(0), np.float32(1), np.float32(2)

    def compute(self, x: np.ndarray) -> np.ndarray:
        self.mean = self.mean * np.float32(0.9) + x[0]
        step = x[1] - self.last
        self.last = x[1]
        assert isinstance(self.gain, np.float32)
        return x * self.mean + step * self.gain


@trap()
class ArrayOfTensor(ArrayPolicy):
    """A tensor and its arrays; each is written in place through the other."""

    def build(self) -> None:
        self.a, self.b = torch.zeros(4), torch.zeros(4)
        self.of_a, self.of_b = self.a.numpy(), self.b.numpy()

    def compute(self, x: np.ndarray) -> torch.Tensor:
        self.of_a[:] = self.of_a * np.float32(0.5) + x
        before = torch.from_numpy(self.of_b * 2)
        self.b.copy_(self.b * 0.5 + torch.from_numpy(x))
        return self.a + before


@trap()
class ArrayMadeInTheFirstTick(ArrayPolicy):
    """State that the first tick creates."""

    def build(self) -> None:
        self.state: np.ndarray | None = None

    def compute(self, x: np.ndarray) -> np.ndarray:
        if self.state is None:
            self.state = np.zeros(4, dtype=np.float32)
        self.state = self.state * np.float32(0.5) + x
        return self.state * 2


@program()
class DelayReadTwice(ArrayPolicy):
    """A delay of two ticks, each read in two places."""

    def build(self) -> None:
        self.last, self.one_before = torch.zeros(4), torch.ones(4)

    def compute(self, x: np.ndarray) -> torch.Tensor:
        y = self.last * 2 + self.last.exp() + self.one_before * 3 + self.one_before.sin()
        now = torch.from_numpy(x)
        self.last, self.one_before = now.clone(), self.last
        return y + now


@program()
class SeededDraws(ArrayPolicy):
    """A constant that a seeded generator fills in C code."""

    def compute(self, x: np.ndarray) -> np.ndarray:
        offsets = np.random.default_rng(3).standard_normal(4)
        order = np.random.default_rng(4).permutation(4)
        return (x + offsets)[order]


@program()
class FunctionOfElements(ArrayPolicy):
    """Python functions that NumPy calls for each element or row."""

    def compute(self, x: np.ndarray) -> np.ndarray:
        table = np.stack([x, x * 2])
        rows = np.apply_along_axis(lambda row: row[::-1] - row.mean(), 1, table)
        sums = np.apply_along_axis(np.sum, 0, table)
        return np.vectorize(lambda a, b: a * 2 + b)(x, 1.0) + rows[1] + sums


@program(traced=2)
class NumpyRing(FourNumbers):
    """A NumPy buffer of the object, written in place inside the node."""

    def build(self) -> None:
        self.past, self.net = np.zeros((3, 4), np.float32), actor(12, 2)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        past = annotate.register_buffer("policy", {"past": self.past})
        past[:-1] = past[1:]
        past[-1] = obs.numpy()[0]
        action: torch.Tensor = self.net(torch.from_numpy(past).flatten()[None])
        return action


@program(traced=2)
class NumpyFeedback(FourNumbers):
    """The last action is fed back through a NumPy buffer."""

    def build(self) -> None:
        self.last, self.net = np.zeros((1, 2), np.float32), actor(6, 2)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        last = annotate.register_buffer("policy", {"last": self.last})
        action: torch.Tensor = self.net(torch.cat([obs, torch.from_numpy(last)], -1))
        last[:] = action.numpy()
        return action


@trap(traced=1)
class NumpyFeedbackUndeclared(FourNumbers):
    """The same with an array that is not declared, in one pass."""

    def build(self) -> None:
        self.last, self.net = np.zeros((1, 2), np.float32), actor(6, 2)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action: torch.Tensor = self.net(torch.cat([obs, torch.from_numpy(self.last)], -1))
        self.last[:] = action.numpy()
        return action


@trap(traced=1)
class NumpyListOfArrays(FourNumbers):
    """A function that NumPy does not let arrays override for lists, imported by name."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        array = obs.numpy()
        return obs + torch.from_numpy(median([array, 2 * array, 3 * array], axis=0))


@trap(traced=1)
class NumpyCopyOfAPose(FourNumbers):
    """A copy of an array of the object, written to with a plain assignment."""

    def build(self) -> None:
        self.pose = np.arange(4, dtype=np.float32)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        pose = self.pose.copy()
        pose[1:] = obs.numpy()[0, 1:]
        return obs + torch.from_numpy(pose)


@program()
class NumpyConstants(FourNumbers):
    """Constants of the object that NumPy computes with in every pass."""

    def build(self) -> None:
        self.mean, self.variance = np.ones(4, np.float32), np.full(4, 2, np.float32)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        scaled = (obs.numpy() - self.mean) / np.sqrt(self.variance + np.float32(0.5))
        return torch.from_numpy(scaled)


@trap(traced=2)
class NumpyMean(FourNumbers):
    """A NumPy array that is replaced by one computed from it."""

    def build(self) -> None:
        self.mean, self.net = np.ones(4, np.float32), actor(4, 2)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.mean = 0.9 * self.mean + 0.1 * obs.numpy()[0]
        action: torch.Tensor = self.net(torch.tensor(self.mean)[None])
        return action


@trap(traced=3)
class NumpyHistory(FourNumbers):
    """A NumPy history that is rolled and copied."""

    def build(self) -> None:
        self.past, self.net = np.zeros((3, 4), np.float32), actor(12, 2)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.past = np.roll(self.past, -1, axis=0)
        self.past[-1] = obs.numpy()[0]
        action: torch.Tensor = self.net(torch.from_numpy(self.past.copy()).flatten()[None])
        return action


@trap(traced=3)
class NumpyInPlaceThenReplaced(FourNumbers):
    """A NumPy array that is scaled in place, and then replaced."""

    def build(self) -> None:
        self.mean = np.zeros((1, 4), np.float32)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.mean *= np.float32(0.9)
        self.mean = self.mean + obs.numpy()
        return torch.from_numpy(self.mean * 2)
