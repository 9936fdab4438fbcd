"""Running statistics, and the values that they normalise."""

from __future__ import annotations

import torch
from torch import nn

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import actor


@program(ticks=100)
class RunningNormaliser(Policy):
    """Welford statistics, reassigned in a module."""

    class Normaliser(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.tensor(1e-4))
            self.register_buffer("mean", torch.zeros(6))
            self.register_buffer("var", torch.ones(6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            delta = x[0] - self.mean
            total = self.count + 1
            self.mean = self.mean + delta / total
            m2 = self.var * self.count + delta**2 * self.count / total
            self.var = m2 / total
            self.count = total
            return (x - self.mean) / torch.sqrt(self.var + 1e-5)

    def build(self) -> None:
        self.norm = self.Normaliser()
        self.net = actor(6, 2)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 6) * 3 + 1}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        annotate.module("policy", self.norm)
        action = annotate.output_tensors(
            "policy", {"action": self.net(self.norm(obs).clip(-5, 5))}, export_with=self.backend
        )
        return {"policy/action": action}


@program(ticks=100)
class RunningNormaliserInPlace(Policy):
    """The same statistics, updated in place without any declaration."""

    def build(self) -> None:
        self.count = torch.ones(())
        self.mean, self.var = torch.zeros(6), torch.ones(6)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"norm/obs": normal(rng, 1, 6) * 2 - 1}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("norm", {"obs": inputs["norm/obs"]})
        self.count.add_(1)
        delta = obs[0] - self.mean
        self.mean.add_(delta / self.count)
        self.var.mul_(0.99).addcmul_(delta, delta, value=0.01)
        out = (obs - self.mean) * torch.rsqrt(self.var + 1e-5)
        out = annotate.output_tensors("norm", {"out": out}, export_with=self.backend)
        return {"norm/out": out}


@program(ticks=100)
class FrozenNormaliser(Policy):
    """Statistics from training, never written: constants."""

    def build(self) -> None:
        self.norm = nn.BatchNorm1d(6).eval()
        self.norm.running_mean.normal_()  # type: ignore[union-attr]
        self.norm.running_var.uniform_(0.5, 2.0)  # type: ignore[union-attr]

    def sense(self, rng: torch.Generator) -> Ports:
        return {"norm/obs": normal(rng, 2, 6)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("norm", {"obs": inputs["norm/obs"]})
        annotate.module("norm", self.norm)
        out = annotate.output_tensors("norm", {"out": self.norm(obs)}, export_with=self.backend)
        return {"norm/out": out}


@program(ticks=100)
class BatchNormInTraining(Policy):
    """Running statistics that the operator updates although its schema declares no write."""

    def build(self) -> None:
        self.net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6)).train()

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 5, 4)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        features = self.net(obs)
        action = features + self.net[1].running_mean / self.net[1].running_var
        action = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": action}


@program(ticks=100)
class InstanceNormInTraining(Policy):
    """The same for normalisation of each sample."""

    def build(self) -> None:
        self.norm = nn.InstanceNorm1d(3, track_running_stats=True).train()

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/signal": normal(rng, 2, 3, 8)}

    def step(self, inputs: Ports) -> Ports:
        signal = annotate.input_tensors("policy", {"signal": inputs["policy/signal"]})
        action = self.norm(signal).sum(-1) + self.norm.running_var
        action = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": action}
