"""Policy networks: heads, experts, masks, normalisations, and less usual layers."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import OneNode, actor


@program()
class GaussianHead(OneNode):
    """A distribution object: its mean and its log-probability are used."""

    def build(self) -> None:
        self.net = actor(8, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        distribution = torch.distributions.Normal(
            mean, log_std.clamp(-5, 2).exp(), validate_args=False
        )
        action = torch.tanh(distribution.mean)
        return torch.cat([action, distribution.log_prob(action).sum(-1, keepdim=True)], -1)


@program()
class MaskedCategorical(OneNode):
    """Logits masked with -inf by a mask input, then softmax and argmax."""

    def build(self) -> None:
        self.net = actor(8, 5)

    def sense(self, rng: torch.Generator) -> Ports:
        mask = torch.rand(1, 5, generator=rng) > 0.5
        mask[:, 0] = True
        return {"policy/obs": normal(rng, 1, 8), "policy/allowed": mask}

    def step(self, inputs: Ports) -> Ports:
        obs, allowed = annotate.input_tensors(
            "policy", {"obs": inputs["policy/obs"], "allowed": inputs["policy/allowed"]}
        )
        logits = self.net(obs).masked_fill(~allowed, float("-inf"))
        results = annotate.output_tensors(
            "policy",
            {
                "logits": logits,
                "probabilities": F.softmax(logits, -1),
                "choice": logits.argmax(-1),
            },
            export_with=self.backend,
        )
        names = ("logits", "probabilities", "choice")
        return {f"policy/{k}": v for k, v in zip(names, results, strict=True)}


@program()
class MixtureOfExperts(OneNode):
    """Two of four experts by topk, gathered, weighted, scattered."""

    def build(self) -> None:
        self.gate, self.experts = nn.Linear(8, 4), nn.ModuleList([actor(8, 3) for _ in range(4)])

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        scores, index = torch.topk(self.gate(obs), 2, dim=-1)
        weights = torch.zeros(1, 4).scatter_(1, index, torch.softmax(scores, -1))
        answers = torch.stack([expert(obs) for expert in self.experts], dim=1)
        chosen = answers.gather(1, index.unsqueeze(-1).expand(-1, -1, 3)).sum(1)
        return (weights.unsqueeze(-1) * answers).sum(1) + 0.1 * chosen


@program()
class EnsembleByVmap(OneNode):
    """torch.vmap over observations with a small function."""

    size = (5, 8)

    def build(self) -> None:
        self.weight = torch.randn(3, 8)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        def one(x: torch.Tensor) -> torch.Tensor:
            return torch.tanh(self.weight @ x) - x[:3].mean()

        return torch.vmap(one)(obs)


@program()
class Residual(OneNode):
    """Layer norm, GELU and residual blocks."""

    def build(self) -> None:
        self.blocks = nn.ModuleList(
            [
                nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
                for _ in range(3)
            ]
        )

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            obs = obs + block(obs)
        return F.rms_norm(obs, (8,))


@program()
class ActivationZoo(OneNode):
    """Many activations, some in place on fresh tensors."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        y = F.silu(obs) + F.mish(obs) + F.hardswish(obs) + F.softplus(obs) + F.selu(obs)
        y = y + F.leaky_relu(obs, 0.2) + F.hardtanh(obs, -0.5, 0.5) + F.celu(obs) + F.softsign(obs)
        z = obs.clone()
        F.relu_(z)
        z.add_(y).sigmoid_()
        return F.glu(z, -1)


@program()
class SpectralAndWeightNorm(OneNode):
    """Parametrised weights are constants of the export."""

    def build(self) -> None:
        self.net = nn.Sequential(
            nn.utils.parametrizations.weight_norm(nn.Linear(8, 8)),
            nn.Tanh(),
            nn.utils.parametrizations.orthogonal(nn.Linear(8, 8)),
        ).eval()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.net(obs)
        return out


@program()
class HyperNetwork(OneNode):
    """Weights computed from the observation, applied with bmm."""

    def build(self) -> None:
        self.make = nn.Linear(8, 12)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        weight = self.make(obs).view(1, 3, 4)
        return torch.baddbmm(obs[:, 4:7].unsqueeze(-1), weight, obs[:, :4].unsqueeze(-1)).flatten(1)


@program()
class Film(OneNode):
    """Feature-wise modulation with split sizes."""

    def build(self) -> None:
        self.trunk, self.film = nn.Linear(6, 10), nn.Linear(2, 20)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        state, goal = obs.split([6, 2], dim=-1)
        gamma, beta = torch.tensor_split(self.film(goal), 2, dim=-1)
        return torch.addcmul(beta, 1 + gamma, torch.relu(self.trunk(state)))


@program()
class BatchedCommands(OneNode):
    """A batch of environments through one network with per-row choices."""

    size = (16, 8)

    def build(self) -> None:
        self.net = actor(8, 12)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        options = self.net(obs).view(16, 4, 3)
        best = options.norm(dim=-1).argmax(dim=1)
        return options[torch.arange(16), best]


@program()
class HalfPrecisionTrunk(OneNode):
    """Casts to bfloat16 and back during the computation."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        rough = obs.to(torch.float16).float()
        return (rough * 2).half().to(torch.float32) + obs.to(torch.int32).float()


@program()
class Embeddings(Policy):
    """Discrete skills look up embeddings; a one-hot vector is added."""

    def build(self) -> None:
        self.table = nn.Embedding(6, 5)
        self.net = actor(5 + 6 + 3, 2)

    def sense(self, rng: torch.Generator) -> Ports:
        return {
            "policy/skill": torch.randint(0, 6, (2,), generator=rng),
            "policy/obs": normal(rng, 2, 3),
        }

    def step(self, inputs: Ports) -> Ports:
        skill, obs = annotate.input_tensors(
            "policy", {"skill": inputs["policy/skill"], "obs": inputs["policy/obs"]}
        )
        x = torch.cat([self.table(skill), F.one_hot(skill, 6).float(), obs], -1)
        action = annotate.output_tensors(
            "policy", {"action": self.net(x)}, export_with=self.backend
        )
        return {"policy/action": action}


@program()
class GradientInTheLoop(OneNode):
    """Gradients are enabled and parameters require them; the graph has the forward part only."""

    def build(self) -> None:
        self.net = actor(8, 3)

    def step(self, inputs: Ports) -> Ports:
        with torch.enable_grad():
            outputs = super().step(inputs)
            assert outputs["policy/action"].requires_grad
        return {key: value.detach() for key, value in outputs.items()}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.net(obs)
        return out


@program()
class InferenceMode(OneNode):
    """Everything under inference_mode."""

    def build(self) -> None:
        self.net = actor(8, 3)

    def step(self, inputs: Ports) -> Ports:
        with torch.inference_mode():
            return super().step(inputs)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        y = self.net(obs)
        y[:, 0] += obs.mean()
        return y.clamp_(-1, 1)
