"""Undeclared state: attributes and containers that the policy replaces in each tick."""

from __future__ import annotations

import collections
from typing import NamedTuple

import torch
from torch import nn

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import FourNumbers, actor


@program(traced=2)
class PidAttributes(FourNumbers):
    """A controller whose integral and last error are attributes."""

    def build(self) -> None:
        self.integral, self.error = torch.zeros(1, 4), torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.integral = (self.integral + 0.02 * obs).clamp(-1, 1)
        rate = (obs - self.error) / 0.02
        self.error = obs
        return 2.0 * obs + 0.5 * self.integral + 0.1 * rate


@program(traced=2)
class UsedBeforeReplaced(FourNumbers):
    """The new value of the state reaches no output of the same tick."""

    def build(self) -> None:
        self.trace = torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action = obs + 0.5 * self.trace
        self.trace = 0.9 * self.trace + obs
        return action


@program(traced=2)
class LazyGruState(FourNumbers):
    """The hidden state is None at first, so nn.GRU starts with zeros."""

    def build(self) -> None:
        self.gru, self.head = nn.GRU(4, 6), nn.Linear(6, 2)
        self.hidden: torch.Tensor | None = None

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.hidden = self.gru(obs[None], self.hidden)
        action: torch.Tensor = self.head(out[0])
        return action


@program(traced=2)
class SharedZeros(FourNumbers):
    """Both parts of an LSTM's state start with one tensor."""

    def build(self) -> None:
        self.cell, self.head = nn.LSTMCell(4, 6), nn.Linear(6, 2)
        self.state: tuple[torch.Tensor, torch.Tensor] | None = None

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        if self.state is None:
            zeros = obs.new_zeros(obs.shape[0], 6)
            self.state = (zeros, zeros)
        self.state = self.cell(obs, self.state)
        action: torch.Tensor = self.head(self.state[0])
        return action


class _Memory(NamedTuple):
    fast: torch.Tensor
    slow: torch.Tensor


@program(traced=4)
class NamedTupleState(FourNumbers):
    """Two filters in a tuple that is created again in each tick."""

    def build(self) -> None:
        self.memory = _Memory(torch.zeros(1, 4), torch.ones(1, 4))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        fast = torch.lerp(self.memory.fast, obs, 0.5)
        self.memory = _Memory(fast, 0.9 * self.memory.slow + 0.1 * fast)
        return self.memory.fast - self.memory.slow


@program(traced=2)
class DequeOfObservations(FourNumbers):
    """A queue of the last observations, filled with a different tensor in each place."""

    def build(self) -> None:
        self.queue = collections.deque([torch.zeros(1, 4) for _ in range(3)], maxlen=3)
        self.net = actor(12, 2)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.queue.append(obs)
        action: torch.Tensor = self.net(torch.cat(list(self.queue), -1))
        return action


@program(traced=3)
class ListOfOneTensor(FourNumbers):
    """The same queue, with one tensor in every place at first."""

    def build(self) -> None:
        self.past = [torch.zeros(1, 4)] * 3
        self.net = actor(12, 2)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.past = [*self.past[1:], obs]
        action: torch.Tensor = self.net(torch.cat(self.past, -1))
        return action


@program(traced=2)
class ActionKeptAfterTheNode(FourNumbers):
    """The last action is kept, as a copy, after the node has closed."""

    def build(self) -> None:
        self.last, self.net = torch.zeros(1, 2), actor(6, 2)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action: torch.Tensor = self.net(torch.cat([obs, self.last], -1))
        return action

    def step(self, inputs: Ports) -> Ports:
        outputs = super().step(inputs)
        self.last = outputs["policy/action"].detach().clone()
        return outputs


@program(traced=2)
class LaterNodesAction(Policy):
    """One node reads the output of a later node from the previous tick."""

    def build(self) -> None:
        self.last, self.net = torch.zeros(1, 2), actor(6, 2)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"observe/joints": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        joints = annotate.input_tensors("observe", {"joints": inputs["observe/joints"]})
        obs = torch.cat([joints, self.last], -1)
        obs = annotate.output_tensors("observe", {"obs": obs}, export_with=self.backend)
        obs = annotate.input_tensors("policy", {"obs": obs})
        action = torch.tanh(self.net(obs))
        self.last = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": self.last}


@program(traced=2)
class ResetInTheFirstTick(FourNumbers):
    """The filter is reset to zeros like the first observation."""

    def build(self) -> None:
        self.fresh, self.mean = True, torch.ones(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        if self.fresh:
            self.mean, self.fresh = torch.zeros_like(obs), False
        self.mean = 0.5 * self.mean + 0.5 * obs
        return self.mean


@program(traced=3)
class BiquadFilter(FourNumbers):
    """Four delays that start with one tensor."""

    def build(self) -> None:
        self.x1 = self.x2 = self.y1 = self.y2 = torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out = 0.2 * obs + 0.4 * self.x1 + 0.2 * self.x2 + 0.3 * self.y1 - 0.1 * self.y2
        self.x2, self.x1, self.y2, self.y1 = self.x1, obs, self.y1, out
        return out


@program(traced=2)
class RingByOwnIndex(FourNumbers):
    """A ring buffer whose index is an undeclared tensor."""

    def build(self) -> None:
        self.ring, self.next = torch.zeros(5, 1, 4), torch.tensor(0)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.ring[self.next] = obs
        self.next = (self.next + 1) % 5
        return self.ring.mean(0) + self.ring[self.next]


@program(traced=2)
class ChunkByCounter(FourNumbers):
    """A chunk of actions, computed in every fourth tick and read by a counter."""

    def build(self) -> None:
        self.chunk, self.tick, self.head = torch.zeros(4, 2), torch.tensor(0), actor(4, 8)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.chunk = torch.where(self.tick % 4 == 0, self.head(obs).view(4, 2), self.chunk)
        action = self.chunk[self.tick % 4]
        self.tick = self.tick + 1
        return action


@program(traced=2)
class ResetInPlaceThenReplaced(FourNumbers):
    """A hidden state whose rows are reset in place before it is replaced."""

    def build(self) -> None:
        self.cell, self.hidden = nn.GRUCell(4, 6), torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.hidden[obs[:, 0] < 0] = 0.0
        self.hidden = self.cell(obs, self.hidden)
        return self.hidden


@program(traced=2)
class DoubleBuffer(FourNumbers):
    """Two buffers that are swapped in each tick."""

    def build(self) -> None:
        self.front, self.back = torch.zeros(1, 4), torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.back.copy_(0.5 * self.front + obs)
        self.front, self.back = self.back, self.front
        return 2 * self.front


@program(traced=2)
class ScratchMadeOutside(Policy):
    """Memory that is created before the node opens, in every tick, and written inside the node."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"node/obs": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        scratch, scale = torch.zeros(1, 6), torch.full((1, 4), 2.0)
        obs = annotate.input_tensors("node", {"obs": inputs["node/obs"]})
        scratch[:, 1:5] += obs
        scale.mul_(obs)
        action = annotate.output_tensors(
            "node", {"action": scratch.sum(-1, keepdim=True) + scale}, export_with=self.backend
        )
        return {"node/action": action}


@program(traced=3)
class DelayOfTwo(FourNumbers):
    """A value of one tick that is read two ticks later."""

    def build(self) -> None:
        self.older, self.old = torch.zeros(1, 4), torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action = obs - self.older
        self.older, self.old = self.old, obs
        return action


@program(traced=5)
class LatencyQueue(FourNumbers):
    """Actions leave a queue three ticks after they entered; the queue starts with different
    tensors.
    """

    def build(self) -> None:
        self.head = actor(4, 2)
        self.queue = collections.deque(torch.full((1, 2), 0.1 * n) for n in range(3))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.queue.append(self.head(obs))
        return self.queue.popleft() + 0.1 * obs[:, :2]


@program(traced=3)
class OneFlagThenAnother(FourNumbers):
    """A flag that is one tensor in the first tick, and another with the same value afterwards."""

    def build(self) -> None:
        self.h, self.fixed = torch.zeros(1, 4), torch.zeros(1, 1, dtype=torch.bool)
        self.init = torch.zeros(1, 1, dtype=torch.bool)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        h = torch.where(self.init, torch.zeros_like(self.h), self.h)
        self.h, self.init = torch.tanh(h + obs), self.fixed
        return self.h * 2


class _TouchedBetween(Policy):
    """State that the node replaces and the program then overwrites."""

    def build(self) -> None:
        self.h = torch.zeros(1, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 4)}

    def put_out(self) -> torch.Tensor:
        raise NotImplementedError

    def touch(self) -> None:
        raise NotImplementedError

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        self.h = torch.tanh(self.h + obs)
        outputs = {"action": self.put_out()}
        action = annotate.output_tensors("policy", outputs, export_with=self.backend)
        put_out = {"policy/action": action.clone()}
        self.touch()
        return put_out


@program(traced=3)
class ScaledAfterTheNode(_TouchedBetween):
    """The output is scaled in place before the next tick reads it."""

    def put_out(self) -> torch.Tensor:
        return self.h

    def touch(self) -> None:
        self.h *= 0.5


@program(traced=3)
class ResetOfNone(_TouchedBetween):
    """Finished episodes are reset after each tick; none has finished."""

    def put_out(self) -> torch.Tensor:
        return self.h * 2

    def touch(self) -> None:
        self.h[torch.tensor([False])] = 0.0
