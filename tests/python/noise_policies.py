"""Policies that draw random numbers, written as people write them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import torch
from torch import nn
from torch.distributions import Normal
from torch.nn import functional

Tensor = torch.Tensor
OBS, ACT, HORIZON = 6, 3, 8


def mlp(*sizes: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.Mish()]
    return nn.Sequential(*layers[:-1])


class DiffusionPolicy(nn.Module):
    """DDPM: noise at the start and in every step but the last."""

    def __init__(self, steps: int = 10) -> None:
        super().__init__()
        self.net = mlp(HORIZON * ACT + OBS + 1, 32, HORIZON * ACT)
        betas = torch.linspace(1e-2, 0.2, steps)
        self.register_buffer("alphas", 1 - betas)
        self.register_buffer("products", torch.cumprod(1 - betas, 0))

    def forward(self, obs: Tensor) -> Tensor:
        x = torch.randn(obs.shape[0], HORIZON, ACT)
        for step in reversed(range(len(self.alphas))):
            time = torch.full((obs.shape[0], 1), step / len(self.alphas))
            noise = self.net(torch.cat([x.flatten(1), obs, time], -1)).view_as(x)
            alpha, product = self.alphas[step], self.products[step]
            x = (x - (1 - alpha) / (1 - product).sqrt() * noise) / alpha.sqrt()
            if step > 0:
                x = x + (1 - alpha).sqrt() * torch.randn_like(x)
        return x.clamp(-1, 1)


class FlowPolicy(nn.Module):
    """Flow matching: Euler steps from one draw."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp(HORIZON * ACT + OBS + 1, 32, HORIZON * ACT)

    def forward(self, obs: Tensor) -> Tensor:
        x = torch.normal(mean=0.0, std=1.0, size=(obs.shape[0], HORIZON * ACT))
        for step in range(5):
            time = torch.full((obs.shape[0], 1), step / 5)
            x = x + self.net(torch.cat([x, obs, time], -1)) / 5
        return x


class SacActor(nn.Module):
    """A squashed Gaussian with its log-probability, as in soft actor-critic."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp(OBS, 32, 2 * ACT)

    def forward(self, obs: Tensor) -> Tensor:
        mean, log_std = self.net(obs).chunk(2, -1)
        normal = Normal(mean, log_std.clamp(-5, 2).exp(), validate_args=False)
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return torch.cat([action, log_prob.sum(-1, keepdim=True)], -1)


class Planner(nn.Module):
    """Sampling-based planning as in TD-MPC: warm start, elites, one sampled action."""

    def __init__(self) -> None:
        super().__init__()
        self.dynamics, self.reward = mlp(OBS + ACT, 32, OBS), mlp(OBS + ACT, 32, 1)
        self.register_buffer("mean", torch.zeros(HORIZON, ACT))

    def forward(self, obs: Tensor) -> Tensor:
        mean = torch.cat([self.mean[1:], torch.zeros(1, ACT)])
        std = torch.full((HORIZON, ACT), 0.5)
        for _ in range(2):
            sampled = mean + std * torch.randn(64, HORIZON, ACT)
            actions = sampled.clamp(-1, 1)
            state, value = obs.expand(64, OBS), torch.zeros(64)
            for step in range(HORIZON):
                both = torch.cat([state, actions[:, step]], -1)
                value = value + self.reward(both).squeeze(-1)
                state = state + self.dynamics(both)
            top = value.topk(8)
            weights = torch.softmax(top.values - top.values.max(), 0)
            elites = actions[top.indices]
            mean = (weights[:, None, None] * elites).sum(0)
            std = ((weights[:, None, None] * (elites - mean) ** 2).sum(0)).sqrt().clamp(0.05, 2)
        self.mean = mean
        index = torch.multinomial(weights, 1)
        action = elites[index, 0] + std[0] * torch.randn_like(std[0])
        return action.clamp(-1, 1)


class Categories(nn.Module):
    """A discrete policy that explores by Gumbel noise and epsilon-greedy."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp(OBS, 32, 5)

    def forward(self, obs: Tensor) -> Tensor:
        logits = self.net(obs)
        soft = functional.gumbel_softmax(logits, tau=0.5)
        explores = torch.rand(obs.shape[0]) < 0.3
        greedy = logits.argmax(-1)
        choice = torch.where(explores, torch.randint(5, greedy.shape), greedy)
        return torch.cat([soft, choice.unsqueeze(-1).float()], -1)


class Forgotten(nn.Module):
    """Attention and dropout without eval()."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(OBS, 2, 16, dropout=0.2, batch_first=True)
        self.head = nn.Sequential(nn.Dropout(0.5), nn.Linear(OBS, ACT))

    def forward(self, obs: Tensor) -> Tensor:
        frames = torch.stack([obs, obs * 0.5, obs.roll(1, -1)], 1) * math.sqrt(OBS)
        return self.head(self.layer(frames).mean(1))


POLICIES: dict[str, Callable[[], nn.Module]] = {
    "diffusion": DiffusionPolicy,
    "flow": FlowPolicy,
    "sac": SacActor,
    "planner": Planner,
    "categories": Categories,
    "forgotten": Forgotten,
}


def observations(ticks: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(11)
    return [torch.randn(1, OBS, generator=generator) for _ in range(ticks)]
