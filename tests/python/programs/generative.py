"""Diffusion, flows and action chunks."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import actor


class _Denoiser(Policy):
    """Noise is an input, so the result is deterministic."""

    def build(self) -> None:
        self.net = actor(4 + 6 + 8, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 6), "policy/noise": normal(rng, 1, 4)}

    def predict(self, x: torch.Tensor, obs: torch.Tensor, t: float) -> torch.Tensor:
        frequencies = torch.exp(torch.arange(4) * (-math.log(100.0) / 3))
        angles = t * frequencies
        embedding = torch.cat([angles.sin(), angles.cos()]).unsqueeze(0)
        out: torch.Tensor = self.net(torch.cat([x, obs, embedding], -1))
        return out

    def solve(self, x: torch.Tensor, obs: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def step(self, inputs: Ports) -> Ports:
        obs, noise = annotate.input_tensors(
            "policy", {"obs": inputs["policy/obs"], "noise": inputs["policy/noise"]}
        )
        action = annotate.output_tensors(
            "policy", {"action": self.solve(noise, obs)}, export_with=self.backend
        )
        return {"policy/action": action}


@program(ticks=8)
class DdimLoop(_Denoiser):
    """Ten deterministic denoising steps with a cosine schedule."""

    def solve(self, x: torch.Tensor, obs: torch.Tensor) -> torch.Tensor:
        alphas = torch.cos(torch.linspace(0, 1.4, 11)).square()
        for k in range(10, 0, -1):
            epsilon = self.predict(x, obs, k / 10)
            clean = ((x - (1 - alphas[k]).sqrt() * epsilon) / alphas[k].sqrt()).clamp(-1, 1)
            x = alphas[k - 1].sqrt() * clean + (1 - alphas[k - 1]).sqrt() * epsilon
        return x


@program(ticks=8)
class FlowMatching(_Denoiser):
    """Euler steps in place on a working copy."""

    def solve(self, x: torch.Tensor, obs: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        for k in range(6):
            x += self.predict(x, obs, k / 6) / 6
        return x


@program(ticks=8)
class HeunSampler(_Denoiser):
    """A second-order solver through a closure."""

    def solve(self, x: torch.Tensor, obs: torch.Tensor) -> torch.Tensor:
        def slope(y: torch.Tensor, t: float) -> torch.Tensor:
            return self.predict(y, obs, t) - y

        h = 0.25
        for k in range(4):
            first = slope(x, k * h)
            second = slope(x + h * first, (k + 1) * h)
            x = torch.add(x, first + second, alpha=h / 2)
        return x


@program()
class ActionChunks(Policy):
    """Chunks of five actions with exponentially weighted averaging of overlapping chunks."""

    def build(self) -> None:
        self.net = actor(6, 5 * 2)
        self.pending = torch.zeros(5, 5, 2)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 6)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        pending = annotate.state_tensors("policy", {"pending": self.pending})
        chunk = self.net(obs).view(1, 5, 2)
        shifted = F.pad(pending[:-1, 1:], (0, 0, 0, 1))
        pending = torch.cat([chunk, shifted], 0)
        self.pending = annotate.update_state("policy", {"pending": pending})
        weights = torch.exp(-0.3 * torch.arange(5.0))
        action = (pending[:, 0] * weights[:, None]).sum(0) / weights.sum()
        action = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": action}


@program()
class LatentWorldModel(Policy):
    """Deterministic and categorical latent state, straight-through argmax."""

    def build(self) -> None:
        self.cell = nn.GRUCell(12 + 2, 10)
        self.prior, self.encode = nn.Linear(10, 12), nn.Linear(10 + 5, 12)
        self.act = nn.Linear(10 + 12, 2)
        self.state = {"h": torch.zeros(1, 10), "z": torch.zeros(1, 12), "a": torch.zeros(1, 2)}

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 5)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        h, z, a = annotate.state_tensors("policy", self.state)
        h = self.cell(torch.cat([z, a], -1), h)
        logits = self.encode(torch.cat([h, obs], -1)).view(1, 3, 4)
        soft = logits.softmax(-1)
        hard = F.one_hot(logits.argmax(-1), 4).to(soft.dtype)
        z = (hard + soft - soft.detach()).flatten(1)
        a = torch.tanh(self.act(torch.cat([h, z], -1)))
        self.state = {"h": h, "z": z, "a": a}
        annotate.update_state("policy", self.state)
        action = annotate.output_tensors("policy", {"action": a}, export_with=self.backend)
        return {"policy/action": action}
