"""Memory that two nodes share without annotation: one writes it, the other reads or writes it."""

from __future__ import annotations

import torch
from torch import nn

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import actor


class _Owner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.history = nn.Buffer(torch.zeros(4, 3))


class _Two(Policy):
    """Nodes "first" and "second"; the second one receives the output of the first one."""

    def build(self) -> None:
        self.owner = _Owner()

    def sense(self, rng: torch.Generator) -> Ports:
        return {"first/x": normal(rng, 3)}

    def work_first(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def work_second(self, y: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def step(self, inputs: Ports) -> Ports:
        x = annotate.input_tensors("first", {"x": inputs["first/x"]})
        y = annotate.output_tensors("first", {"y": self.work_first(x)}, export_with=self.backend)
        z = annotate.input_tensors("second", {"z": y})
        a = annotate.output_tensors("second", {"a": self.work_second(z)}, export_with=self.backend)
        return {"second/a": a}


class _WriterFirst(_Two):
    def work_first(self, x: torch.Tensor) -> torch.Tensor:
        self.owner.history.copy_(torch.cat([x[None], self.owner.history[:-1]]))
        return x * 2

    def work_second(self, y: torch.Tensor) -> torch.Tensor:
        return y + self.owner.history.mean(0)


class _ReaderFirst(_Two):
    def work_first(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.owner.history.mean(0)

    def work_second(self, y: torch.Tensor) -> torch.Tensor:
        self.owner.history[1:] = self.owner.history[:-1].clone()
        self.owner.history[0] = y
        return y * 2


class _BothWrite(_Two):
    def work_first(self, x: torch.Tensor) -> torch.Tensor:
        self.owner.history.add_(x)
        return self.owner.history[0] * 2

    def work_second(self, y: torch.Tensor) -> torch.Tensor:
        self.owner.history.mul_(0.5)
        return y + self.owner.history.sum(0)


class _BothReplace(_Two):
    def work_first(self, x: torch.Tensor) -> torch.Tensor:
        annotate.module("first", self.owner)
        self.owner.history = self.owner.history * 0.5 + x
        return self.owner.history[0] * 2

    def work_second(self, y: torch.Tensor) -> torch.Tensor:
        annotate.module("second", self.owner)
        self.owner.history = self.owner.history + y
        return self.owner.history.sum(0)


class _OneReplaces(_Two):
    def work_first(self, x: torch.Tensor) -> torch.Tensor:
        annotate.module("first", self.owner)
        self.owner.history = self.owner.history * 0.5 + x
        return x * 2

    def work_second(self, y: torch.Tensor) -> torch.Tensor:
        return y + self.owner.history.sum(0)


class _Scratch(_Two):
    """Both overwrite the whole buffer before they read it: it is not state."""

    def work_first(self, x: torch.Tensor) -> torch.Tensor:
        self.owner.history.copy_(x.sin())
        return x * 2

    def work_second(self, y: torch.Tensor) -> torch.Tensor:
        mean = self.owner.history.mean(0)
        self.owner.history.copy_(y)
        return mean + self.owner.history.sum(0)


for _kind in (_WriterFirst, _ReaderFirst, _BothWrite, _BothReplace, _OneReplaces, _Scratch):
    # One pass must be enough, and more passes must not change the result.
    for _passes, _suffix in ((1, "OnePass"), (3, "ThreePasses")):
        _name = f"Shared{_kind.__name__[1:]}{_suffix}"
        program(ticks=100, traced=_passes)(type(_name, (_kind,), {"__doc__": _kind.__doc__}))


class _Environment(Policy):
    """Actions of the policy that an environment keeps between its nodes, undeclared."""

    def build(self) -> None:
        self.net = actor(4, 4)
        self.actions, self.last_actions = torch.zeros(2, 4), torch.zeros(2, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"observe/joints": normal(rng, 2, 4)}

    def step(self, inputs: Ports) -> Ports:
        joints = annotate.input_tensors("observe", {"joints": inputs["observe/joints"]})
        obs = joints + self.actions - 0.5 * self.last_actions
        obs = annotate.output_tensors("observe", {"obs": obs}, export_with=self.backend)
        obs = annotate.input_tensors("policy", {"obs": obs})
        action = annotate.output_tensors(
            "policy", {"action": self.net(obs)}, export_with=self.backend
        )
        self.take(action)
        return {"policy/action": action}

    def take(self, action: torch.Tensor) -> None:
        raise NotImplementedError


@program()
class ActionsThatAreReplaced(_Environment):
    """The clipped action becomes one attribute, and the one of the previous tick another."""

    def take(self, action: torch.Tensor) -> None:
        self.last_actions = self.actions
        self.actions = action.clip(-0.3, 0.3)


@program()
class ActionsInBuffers(_Environment):
    """The same in memory of the environment."""

    def take(self, action: torch.Tensor) -> None:
        self.last_actions[:] = self.actions
        self.actions[:] = torch.clip(action, -0.3, 0.3)


@program()
class ActionsOfOneNode(Policy):
    """A node that reads a value computed from its own output."""

    def build(self) -> None:
        self.net = actor(4, 4)
        self.actions = torch.zeros(2, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/joints": normal(rng, 2, 4)}

    def step(self, inputs: Ports) -> Ports:
        joints = annotate.input_tensors("policy", {"joints": inputs["policy/joints"]})
        action = self.net(joints + self.actions)
        action = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        self.actions[:] = action.clip(-0.3, 0.3)
        return {"policy/action": action}
