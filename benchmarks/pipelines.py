"""Policy pipelines that both LEAPPs can trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networks
import torch
from torch import Tensor, nn

import leapp
from leapp import annotate


class FourNodes:
    """Normalise, encode, a 512-256-128 policy, a clamp whose action is fed back."""

    def __init__(self, backend: str = "jit") -> None:
        torch.manual_seed(0)
        self.backend = backend
        self.mean, self.std = torch.randn(48), torch.rand(48) + 0.5
        self.encoder = networks.mlp(48 + 12, 128, 64)
        self.policy = networks.mlp(64, 512, 256, 128, 12)
        self.reset()

    def reset(self) -> None:
        self.action = torch.zeros(1, 12)

    def step(self, obs: Tensor) -> Tensor:
        x = annotate.input_tensors("normalise", {"obs": obs})
        x = ((x - self.mean) / self.std).clamp(-5, 5)
        x = annotate.output_tensors("normalise", {"x": x}, export_with=self.backend)
        x, last = annotate.input_tensors("encoder", {"x": x, "last": self.action})
        z = self.encoder(torch.cat([x, last], -1))
        z = annotate.output_tensors("encoder", {"z": z}, export_with=self.backend)
        z = annotate.input_tensors("policy", {"z": z})
        raw = annotate.output_tensors("policy", {"raw": self.policy(z)}, export_with=self.backend)
        raw = annotate.input_tensors("limit", {"raw": raw})
        outputs = {"action": raw.clamp(-1, 1), "power": raw.square().sum(-1)}
        self.action, _ = annotate.output_tensors("limit", outputs, export_with=self.backend)
        return self.action


class Chain:
    """Many small nodes in a row."""

    def __init__(self, nodes: int, backend: str = "jit") -> None:
        torch.manual_seed(0)
        self.backend = backend
        self.layers = [nn.Linear(48, 48) for _ in range(nodes)]

    def step(self, obs: Tensor) -> Tensor:
        for number, layer in enumerate(self.layers):
            x = annotate.input_tensors(f"node{number}", {"x": obs})
            obs = annotate.output_tensors(
                f"node{number}", {"y": torch.tanh(layer(x))}, export_with=self.backend
            )
        return obs


class Wide:
    """Three nodes with many weights."""

    def __init__(self, backend: str = "jit") -> None:
        torch.manual_seed(0)
        self.backend = backend
        self.layers = [nn.Linear(2048, 2048) for _ in range(12)]

    def step(self, obs: Tensor) -> Tensor:
        for number in range(3):
            x = annotate.input_tensors(f"node{number}", {"x": obs})
            for layer in self.layers[4 * number : 4 * number + 4]:
                x = torch.tanh(layer(x))
            obs = annotate.output_tensors(f"node{number}", {"y": x}, export_with=self.backend)
        return obs


class OneNetwork:
    """One node around a network of networks.py."""

    def __init__(self, name: str, backend: str = "jit") -> None:
        self.model, self.inputs = networks.build(name)
        self.backend = backend

    def step(self, *values: Tensor) -> object:
        named = {f"in{i}": value for i, value in enumerate(values)}
        traced = annotate.input_tensors("net", named)
        result = self.model(*(traced if len(values) > 1 else [traced]))
        result = result if isinstance(result, tuple) else (result,)
        named = {f"out{i}": value for i, value in enumerate(result)}
        return annotate.output_tensors("net", named, export_with=self.backend)


class GruPolicy:
    """A GRU whose hidden state is declared."""

    def __init__(self, backend: str = "jit") -> None:
        torch.manual_seed(0)
        self.backend = backend
        self.cell, self.head = nn.GRUCell(48, 128), networks.mlp(128, 64, 12)
        self.hidden = torch.zeros(1, 128)

    def step(self, obs: Tensor) -> Tensor:
        obs = annotate.input_tensors("policy", {"obs": obs})
        hidden = self.cell(obs, annotate.state_tensors("policy", {"hidden": self.hidden}))
        self.hidden = annotate.update_state("policy", {"hidden": hidden})
        action: Tensor = annotate.output_tensors(
            "policy", {"action": self.head(hidden)}, export_with=self.backend
        )
        return action


Stepper = Callable[[], object]


def make(name: str, backend: str) -> Stepper:
    """Return a pipeline by name, as a function that runs one tick on fixed input."""
    obs = torch.linspace(-1, 1, 48).unsqueeze(0)
    if name == "four nodes":
        pipeline = FourNodes(backend)
        return lambda: pipeline.step(obs)
    if name == "GRU policy":
        policy = GruPolicy(backend)
        return lambda: policy.step(obs)
    if name == "wide":
        wide = Wide(backend)
        return lambda: wide.step(torch.linspace(-1, 1, 2048).unsqueeze(0))
    if name.endswith("nodes") or name == "one node":
        chain = Chain(1 if name == "one node" else int(name.split()[0]), backend)
        return lambda: chain.step(obs)
    network = OneNetwork(name, backend)
    return lambda: network.step(*network.inputs)


def export(name: str, backend: str, folder: Path, passes: int = 2, **options: object) -> Path:
    """Trace and compile a pipeline; return its YAML."""
    return export_step(make(name, backend), folder, passes, **options)


def export_step(step: Stepper, folder: Path, passes: int = 2, **options: object) -> Path:
    """The same for an existing pipeline."""
    with torch.no_grad():
        leapp.start("bench", save_path=str(folder))
        for _ in range(passes):
            step()
        leapp.stop()
        leapp.compile_graph(**{"visualize": False, **options})
    return folder / "bench" / "bench.yaml"
