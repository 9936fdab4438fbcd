"""Code that programs share: ordinary functions, without annotations."""

from __future__ import annotations

import torch
from torch import nn

from leapp import annotate

from . import Policy, Ports, normal


def actor(inputs: int, outputs: int, width: int = 32) -> nn.Sequential:
    """A small actor network."""
    return nn.Sequential(
        nn.Linear(inputs, width),
        nn.ELU(),
        nn.Linear(width, width),
        nn.ELU(),
        nn.Linear(width, outputs),
    ).eval()


class OneNode(Policy):
    """One node ``policy`` around ``forward`` of one observation."""

    size: tuple[int, ...] = (1, 8)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, *self.size)}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        action = annotate.output_tensors(
            "policy", {"action": self.forward(obs)}, export_with=self.backend
        )
        return {"policy/action": action}


class FourNumbers(OneNode):
    """The same for four numbers."""

    size = (1, 4)


def clip_observations(obs: torch.Tensor, limit: float) -> torch.Tensor:
    return torch.clip(obs, -limit, limit)


def quat_rotate_inverse(q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Rotate v by the inverse of q = (w, x, y, z)."""
    w, xyz = q[:, :1], q[:, 1:]
    a = v * (2.0 * w**2 - 1.0)
    b = torch.cross(xyz, v, dim=-1) * w * 2.0
    c = xyz * torch.bmm(xyz.view(-1, 1, 3), v.view(-1, 3, 1)).squeeze(-1) * 2.0
    return a - b + c


def project_gravity(q: torch.Tensor) -> torch.Tensor:
    down = torch.tensor([[0.0, 0.0, -1.0]]).expand(q.shape[0], 3)
    return quat_rotate_inverse(q, down)


def quat_mul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    w1, x1, y1, z1 = a.unbind(-1)
    w2, x2, y2, z2 = b.unbind(-1)
    return torch.stack(
        [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ],
        dim=-1,
    )
