"""Memory with several views in the program: written through one view, read through another."""

from __future__ import annotations

import abc

import numpy as np
import torch

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import actor


class _Views(Policy):
    """A node with eight numbers for each of three robots."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"observe/x": normal(rng, 3, 8)}

    def step(self, inputs: Ports) -> Ports:
        x = annotate.input_tensors("observe", {"x": inputs["observe/x"]})
        y = annotate.output_tensors("observe", {"y": self.compute(x)}, export_with=self.backend)
        return {"observe/y": y}

    @abc.abstractmethod
    def compute(self, x: torch.Tensor) -> torch.Tensor:
        """Compute the node's result."""


@program()
class ObservationBufferFilledByParts(_Views):
    """Terms are views of the observation; the last one keeps the action for the next tick."""

    def build(self) -> None:
        self.net = actor(8, 2)
        self.obs = torch.zeros(3, 8)
        self.velocity, self.gravity = self.obs[:, :3], self.obs[:, 3:6]
        self.last_action = self.obs[:, 6:]

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        self.velocity.copy_(x[:, :3] * 2)
        self.gravity.copy_(x[:, 3:6])
        action = self.net(self.obs)
        self.last_action.copy_(action)
        return action


@program()
class PositionAndVelocityInOneTensor(_Views):
    """Two parts of memory that no object holds as a whole any more."""

    def build(self) -> None:
        state = torch.zeros(3, 8)
        self.position, self.velocity = state[:, :3], state[:, 3:6]

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        self.position.add_(self.velocity * 0.02)
        self.velocity.mul_(0.9).add_(x[:, 3:6] * 0.1)
        return self.position + self.velocity


@program()
class PartsMadeInInferenceMode(PositionAndVelocityInOneTensor):
    """The same, if no tensor refers to its base."""

    @torch.inference_mode()
    def build(self) -> None:
        super().build()

    @torch.inference_mode()
    def compute(self, x: torch.Tensor) -> torch.Tensor:
        return super().compute(x)


@program()
class EveryOtherColumn(_Views):
    """Views with interleaved elements."""

    def build(self) -> None:
        self.all = torch.zeros(3, 8)
        self.even, self.odd = self.all[:, ::2], self.all[:, 1::2]

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        self.even.add_(x[:, :4]).mul_(0.5)
        self.odd.copy_(self.even * 2 + self.odd * 0.5)
        return self.all * 1


@program()
class RowsOfAHistory(_Views):
    """Rows that are passed on by name, and summed up as a whole."""

    def build(self) -> None:
        self.history = torch.zeros(3, 3, 8)
        self.newest, self.older, self.oldest = self.history

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        self.oldest.copy_(self.older)
        self.older.copy_(self.newest)
        self.newest.copy_(x)
        return self.history.sum(0)


@program()
class PartsOfATransposedTensor(_Views):
    """Views whose dimensions have a different order than those of the memory."""

    def build(self) -> None:
        self.columns = torch.zeros(8, 3)
        self.first, self.second = self.columns.t()[:, :4], self.columns.t()[:, 4:]

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        self.second.add_(self.first).mul_(0.5)
        self.first.copy_(x[:, :4])
        return self.columns.t() * 1


@program()
class ViewsOfAnArray(_Views):
    """Slices of a NumPy array, and the whole array."""

    def build(self) -> None:
        self.array = np.zeros((3, 8), dtype=np.float32)

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        array = annotate.register_buffer("observe", {"array": self.array})
        first, second = array[:, :3], array[:, 3:6]
        first[:] = x.numpy()[:, :3]
        second[:] = second * np.float32(0.5) + first
        return torch.from_numpy(array * 2)


@program()
class NodesWithPartsOfTheirOwn(_Views):
    """Two nodes that keep their state in different parts of one tensor."""

    def build(self) -> None:
        self.state = torch.zeros(3, 8)
        self.first, self.second = self.state[:, :4], self.state[:, 4:]

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        self.first.mul_(0.5).add_(x[:, :4])
        return self.first * 2

    def step(self, inputs: Ports) -> Ports:
        y = annotate.input_tensors("act", {"y": super().step(inputs)["observe/y"]})
        self.second.mul_(0.5).add_(y)
        z = annotate.output_tensors("act", {"z": self.second * 1}, export_with=self.backend)
        return {"act/z": z}


@program()
class RecurrentStateFromOneTensor(_Views):
    """A hidden state and a cell that start as rows of one tensor and are then replaced."""

    def build(self) -> None:
        self.cell = torch.nn.LSTMCell(8, 4)
        self.state = tuple(torch.zeros(2, 3, 4))

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        self.state = self.cell(x, self.state)
        return self.state[0] * 2


@program()
class OutputInAnotherShape(_Views):
    """A node that reads its own last output with a different shape."""

    def build(self) -> None:
        self.last = torch.zeros(6, 4)

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x + self.last.reshape(3, 8))

    def step(self, inputs: Ports) -> Ports:
        done = super().step(inputs)
        self.last = done["observe/y"].view(6, 4)
        return done
