"""Programs whose first tick is different, and state that reaches outputs without an input."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from leapp import annotate

from . import Ports, program
from .helpers import FourNumbers, actor


@program()
class FilterThatBeginsWithTheFirst(FourNumbers):
    """A low-pass filter whose state starts as the first observation, in front of a network."""

    def build(self) -> None:
        self.net, self.smooth = actor(4, 4), None

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.smooth = obs if self.smooth is None else self.smooth + 0.3 * (obs - self.smooth)
        return self.net(self.smooth)


@program()
class FilterInFrontOfANumber(FourNumbers):
    """The operator of the first tick, which only scales, also occurs in later ticks."""

    def build(self) -> None:
        self.smooth: torch.Tensor | None = None

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.smooth = obs if self.smooth is None else 0.9 * self.smooth + 0.1 * obs
        return self.smooth * 2


@program()
class NetworkInFrontOfAnother(FourNumbers):
    """From the second tick on, one layer runs before the layer that always runs."""

    def build(self) -> None:
        self.inner, self.outer = torch.randn(4, 4), torch.randn(4, 4)
        self.h: torch.Tensor | None = None

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.h = obs if self.h is None else torch.tanh(obs @ self.inner + self.h)
        return self.h @ self.outer


@program()
class HistoryFilledWithTheFirst(FourNumbers):
    """A history that is filled with the first observation."""

    def build(self) -> None:
        self.net, self.history = nn.Linear(12, 4), None

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        if self.history is None:
            self.history = obs.repeat(3, 1)
        else:
            self.history = torch.cat([self.history[1:], obs])
        return self.net(self.history.reshape(1, -1))


@program()
class TemporalEnsemble(FourNumbers):
    """Chunks of actions, each averaged in place with the earlier chunks that overlap it."""

    def build(self) -> None:
        self.net = nn.Linear(4, 8)
        self.weights = torch.exp(-0.1 * torch.arange(4))
        self.sums = torch.cumsum(self.weights, 0)
        self.actions: torch.Tensor | None = None
        self.count = torch.ones(4, 1, dtype=torch.long)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        chunk = self.net(obs).reshape(4, 2)
        if self.actions is None:
            self.actions = chunk.clone()
        else:
            self.actions *= self.sums[self.count - 1]
            self.actions += chunk[:-1] * self.weights[self.count]
            self.actions /= self.sums[self.count]
            self.count = torch.clamp(self.count + 1, max=4)
            self.actions = torch.cat([self.actions, chunk[-1:]])
            self.count = torch.cat([self.count, torch.ones_like(self.count[-1:])])
        action, self.actions, self.count = self.actions[:1], self.actions[1:], self.count[1:]
        return action


@program()
class RingThatIsMadeFirst(FourNumbers):
    """Frames in a buffer that the first tick creates and fills, and later ticks shift in place."""

    def build(self) -> None:
        self.net, self.frames = nn.Linear(12, 4), torch.empty(0)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        if self.frames.numel() == 0:
            self.frames = torch.zeros(1, 12)
            self.frames.copy_(obs.repeat(1, 3))
        else:
            self.frames.copy_(torch.roll(self.frames, -4, dims=-1))
            self.frames[:, -4:] = obs
        return self.net(self.frames)


@program()
class NumbersThatBecomeTensors(FourNumbers):
    """A controller whose integral starts as 0.0 and whose rate is known from the second tick on."""

    def build(self) -> None:
        self.integral, self.last = 0.0, None

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.integral = self.integral + obs * 0.02
        rate = 0.0 if self.last is None else (obs - self.last) / 0.02
        self.last = obs
        return 2.0 * obs + self.integral + 0.01 * rate


@program()
class OffsetOfTheFirst(FourNumbers):
    """The input of the first tick is subtracted in all later ticks."""

    def build(self) -> None:
        self.net = actor(4, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        if not hasattr(self, "offset"):
            self.offset = obs
        return self.net(obs - self.offset) + obs


@program()
class PartsOfTheFirst(FourNumbers):
    """Two parts of each observation are stored separately, from the first tick on."""

    def build(self) -> None:
        self.kept: list[torch.Tensor | None] = [None, None]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        rates = []
        for k, part in enumerate(obs.chunk(2, -1)):
            last, self.kept[k] = self.kept[k], part
            rates.append(torch.zeros_like(part) if last is None else (part - last) / 0.02)
        return torch.cat(rates, -1) + obs


@program()
class FlagOfTheFirst(FourNumbers):
    """A Python flag that is true in the first tick."""

    def build(self) -> None:
        self.net, self.first, self.last = actor(4, 4), True, torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action = self.net(obs)
        if not self.first:
            action = 0.5 * action + 0.5 * self.last
        self.first, self.last = False, action
        return action


@program()
class KeysThatAppear(FourNumbers):
    """A dict of state to which the first tick adds an entry that is never read again."""

    def build(self) -> None:
        self.state = {"h": torch.zeros(1, 4)}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        state = {key: value * 0.9 for key, value in self.state.items()}
        state["h"] = state["h"] + obs
        state["action"] = torch.tanh(state["h"])
        self.state = state
        return state["action"]


@program()
class NumberOfNumPys(FourNumbers):
    """A NumPy filter that starts as 0.0."""

    def build(self) -> None:
        self.smooth = 0.0

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.smooth = 0.9 * self.smooth + 0.1 * obs.numpy()
        return torch.as_tensor(np.tanh(self.smooth)) * obs


@program(traced=4)
class LongPass(FourNumbers):
    """State is followed through passes with more operators than LEAPP remembers one by one."""

    def build(self) -> None:
        self.h = torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.h = torch.tanh(self.h + obs)
        y = self.h
        for k in range(100):
            y = torch.where(y > 0.1 * k, y * 0.99, y + 0.01 * self.h)
        return y


@program()
class DelayOfOne(FourNumbers):
    """The output depends on the previous tick alone."""

    def build(self) -> None:
        self.last = torch.zeros(1, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.last = self.last, torch.tanh(obs)
        return out


@program()
class ClockOfItsOwn(FourNumbers):
    """One output depends only on a phase that the program advances."""

    def build(self) -> None:
        self.phase = torch.zeros(1, 1)

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        self.phase = (self.phase + 0.02) % 1.0
        outputs = {"action": obs * 2, "clock": torch.sin(6.28 * self.phase)}
        action, clock = annotate.output_tensors("policy", outputs, export_with=self.backend)
        return {"policy/action": action, "policy/clock": clock}
