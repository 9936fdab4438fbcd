"""NumPy, and memory that is shared with it."""

from __future__ import annotations

import copy

import numpy as np
import torch

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import OneNode, actor


@program()
class NumpyRoundTrip(Policy):
    """To NumPy and back, without arithmetic in between."""

    def build(self) -> None:
        self.net = actor(6, 3)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 6)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        array = (obs * 2).detach().cpu().numpy()
        action = self.net(torch.from_numpy(array))
        action = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": action}


@program()
class NumpyBetweenNodes(Policy):
    """The environment between two nodes uses NumPy."""

    def build(self) -> None:
        self.net = actor(6, 3)
        self.action = np.zeros((1, 3), dtype=np.float32)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"pre/obs": normal(rng, 1, 3)}

    def step(self, inputs: Ports) -> Ports:
        obs, last = annotate.input_tensors(
            "pre", {"obs": inputs["pre/obs"], "last": torch.from_numpy(self.action)}
        )
        x = annotate.output_tensors(
            "pre", {"x": torch.cat([obs, last], -1)}, export_with=self.backend
        )
        x = annotate.input_tensors("policy", {"x": torch.as_tensor(x.detach().numpy())})
        action = annotate.output_tensors(
            "policy", {"action": torch.tanh(self.net(x))}, export_with=self.backend
        )
        self.action = action.detach().numpy()
        return {"policy/action": action}


@program()
class ArrayInputs(Policy):
    """Arrays are annotated as the driver returns them."""

    def build(self) -> None:
        self.net = actor(4, 2)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"].numpy()})
        action = annotate.output_tensors(
            "policy", {"action": self.net(torch.as_tensor(obs))}, export_with=self.backend
        )
        return {"policy/action": action}


@program()
class ReusedInputBuffer(Policy):
    """The driver writes to the same tensor in every tick."""

    def build(self) -> None:
        self.net = actor(4, 2)
        self.buffer = torch.zeros(1, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        self.buffer.copy_(inputs["policy/obs"])
        obs = annotate.input_tensors("policy", {"obs": self.buffer})
        action = annotate.output_tensors(
            "policy", {"action": self.net(obs)}, export_with=self.backend
        )
        return {"policy/action": action}


@program()
class DataAttribute(Policy):
    """x.data and a view made before the annotation are the same tensor."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 2, 3)}

    def step(self, inputs: Ports) -> Ports:
        raw = inputs["policy/obs"]
        obs = annotate.input_tensors("policy", {"obs": raw})
        y = obs.data * 2 + obs.detach()
        action = annotate.output_tensors("policy", {"action": y}, export_with=self.backend)
        return {"policy/action": action}


@program(traced=2)
class DeepCopyOfState(OneNode):
    """A stored value is copied without an operator before it is overwritten."""

    def build(self) -> None:
        self.state = {"h": torch.zeros(*self.size)}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        before = copy.deepcopy(self.state)
        self.state["h"].mul_(0.5).add_(obs)
        return self.state["h"] - before["h"]
