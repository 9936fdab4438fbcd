"""Programs that no trace can represent: named, refused, or right anyway; never silently wrong."""

from __future__ import annotations

import collections
import itertools

import torch
from torch import nn

from leapp import annotate

from . import Policy, Ports, normal, trap
from .carried import DelayOfTwo
from .helpers import actor


class _Trap(Policy):
    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 4)}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        action = annotate.output_tensors(
            "policy", {"action": self.forward(obs)}, export_with=self.backend
        )
        return {"policy/action": action}


@trap(traced=1)
class ItemLeaves(_Trap):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        scale = obs.abs().max().item()
        return obs / scale


@trap(traced=1)
class FloatLeaves(_Trap):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return torch.full((1, 4), float(obs.mean())) + obs


@trap(traced=1)
class BranchOnValue(_Trap):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        if obs.sum() > 0:
            return obs * 2
        return obs - 1


@trap(traced=1)
class ListLeaves(_Trap):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        gains = [2.0 * value for value in obs[0].tolist()]
        return obs * torch.tensor([gains])


@trap(traced=1)
class NumpyArithmetic(_Trap):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        array = obs.numpy() * 3 + 1
        return torch.from_numpy(array) + obs


@trap(traced=1)
class RandomExploration(_Trap):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs + 0.5 * torch.randn_like(obs)


@trap(traced=1)
class DropoutInTraining(_Trap):
    def build(self) -> None:
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.5), nn.Linear(64, 4)).train()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.net(obs)
        return out


@trap()
class ForgottenInput(_Trap):
    """The command changes in every tick but is not annotated."""

    def sense(self, rng: torch.Generator) -> Ports:
        self.command = normal(rng, 1, 4)
        return super().sense(rng)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs + self.command


@trap()
class PythonCounter(_Trap):
    """A Python number that increases."""

    def build(self) -> None:
        self.tick = 0

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.tick += 1
        return obs * (0.9**self.tick)


@trap()
class AlternatingCode(_Trap):
    """Passes take different branches, selected by a Python flag."""

    def build(self) -> None:
        self.flip = False

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.flip = not self.flip
        return torch.sin(obs) if self.flip else torch.cos(obs) * 2


@trap(traced=1)
class StaleNumpyWrite(_Trap):
    """NumPy writes into the memory of a traced tensor."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        y = obs * 2
        y.numpy()[:, 0] = 5.0 * float(obs.sum())
        return y + 1


@trap(traced=2)
class BorrowedIntermediate(Policy):
    """A node uses another node's result without declaring it."""

    def build(self) -> None:
        self.net = actor(4, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"pre/obs": normal(rng, 1, 4), "policy/goal": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("pre", {"obs": inputs["pre/obs"]})
        hidden = self.net(obs)
        annotate.output_tensors("pre", {"x": hidden * 2}, export_with=self.backend)
        goal = annotate.input_tensors("policy", {"goal": inputs["policy/goal"]})
        action = annotate.output_tensors(
            "policy", {"action": goal + hidden}, export_with=self.backend
        )
        return {"policy/action": action}


@trap(traced=1)
class SortedByPython(_Trap):
    """An order determined in Python."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        order = sorted(range(4), key=lambda i: float(obs[0, i]))
        return obs[:, order]


@trap(traced=1)
class LoopUntilConverged(_Trap):
    """The number of iterations depends on the values."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        x = obs
        while bool((x.abs() > 0.1).any()):
            x = x * 0.5
        return x


@trap(traced=1)
class ReplacedWithoutAWord(_Trap):
    """Undeclared state in a plain attribute."""

    def build(self) -> None:
        self.cell = nn.GRUCell(4, 6)
        self.hidden = torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.hidden = self.cell(obs, self.hidden)
        return self.hidden.sum(-1)


@trap(traced=1)
class QueueOfObservations(_Trap):
    """A history in a queue of tensors."""

    def build(self) -> None:
        self.history = collections.deque([torch.zeros(1, 4) for _ in range(3)], maxlen=3)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        stacked = torch.stack([*self.history, obs])
        self.history.append(obs)
        return stacked.mean(0)


@trap(traced=2)
class BranchOnUndeclaredState(_Trap):
    """A branch on a tensor that depends on an input in later passes only."""

    def build(self) -> None:
        self.sum = torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        if self.sum.abs().sum() > 6.0:
            self.sum = torch.zeros(1, 4)
        self.sum = self.sum + obs
        return self.sum * 2


@trap(traced=2)
class BranchOnCountInPlace(_Trap):
    """A branch on memory that the node writes and that reaches no output."""

    def build(self) -> None:
        self.count = torch.zeros((), dtype=torch.long)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return obs * 0 if self.count >= 5 else obs * 2


@trap(traced=2)
class CountInAList(_Trap):
    def build(self) -> None:
        self.counts = [0]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.counts[0] += 1
        return obs * 0 if self.counts[0] % 5 == 0 else obs * 2


@trap(traced=2)
class CountInAClosure(_Trap):
    def build(self) -> None:
        calls = 0

        def double(obs: torch.Tensor) -> torch.Tensor:
            nonlocal calls
            calls += 1
            return obs * 0 if calls % 5 == 0 else obs * 2

        self.double = double

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.double(obs)


@trap(traced=1)
class GainsInTurn(_Trap):
    """An iterator that advances in every tick."""

    def build(self) -> None:
        self.gains = itertools.cycle([1.0, 2.0])

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs * next(self.gains)


@trap(traced=2)
class DelayTracedTooShort(_Trap):
    """A value of the first pass that is first read in the third pass."""

    build, forward = DelayOfTwo.build, DelayOfTwo.forward


@trap()
class ReferenceOfTheFirst(_Trap):
    """A part of the first measurement is stored outside of the node."""

    def build(self) -> None:
        self.reference: torch.Tensor | None = None

    def step(self, inputs: Ports) -> Ports:
        if self.reference is None:
            self.reference = inputs["policy/obs"][:, 1:3].clone()
        return super().step(inputs)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        assert self.reference is not None
        return obs[:, 1:3] - self.reference


@trap(traced=1)
class ForgottenSensor(_Trap):
    """A second sensor that was never passed to input_tensors()."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 4), "other": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        action = obs * 2 + inputs["other"]
        action = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": action}
