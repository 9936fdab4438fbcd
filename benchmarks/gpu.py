"""A tick on a GPU, compared with PyTorch's own ways to run the same four nodes: python
benchmarks/gpu.py

Batched policies, as in training and evaluation of thousands of environments at once: normalise,
encoder, a 512-256-128 policy, a clamp whose action is fed back. Inputs and outputs are in device
memory, and nothing is copied to the host. The variants alternate; numbers are medians in
microseconds, including the wait for each tick:

    eager     the modules, called from Python
    frozen    torch.jit.freeze of each node
    replay    all four as one CUDA graph, by hand: static buffers, torch.cuda.graph
    leapp     InferenceManager(provider="cuda"), recorded by prepare()
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import leapp


def mlp(*sizes: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for number, (a, b) in enumerate(itertools.pairwise(sizes)):
        layers += [nn.Linear(a, b)] + ([nn.ELU()] if number < len(sizes) - 2 else [])
    return nn.Sequential(*layers)


class Normalise(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.randn(48))
        self.std = nn.Parameter(torch.rand(48) + 0.5)

    def forward(self, obs: Tensor) -> Tensor:
        return ((obs - self.mean) / self.std).clamp(-5, 5)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = mlp(60, 128, 64)

    def forward(self, x: Tensor, last: Tensor) -> Tensor:
        result: Tensor = self.net(torch.cat([x, last], -1))
        return result


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = mlp(64, 512, 256, 128, 12)

    def forward(self, z: Tensor) -> Tensor:
        result: Tensor = self.net(z)
        return result


class Limit(nn.Module):
    def forward(self, raw: Tensor) -> tuple[Tensor, Tensor]:
        return raw.clamp(-1, 1), raw.square().sum(-1)


PORTS: dict[str, tuple[dict[str, list[int]], dict[str, list[int]]]] = {
    "normalise": ({"obs": [48]}, {"x": [48]}),
    "encoder": ({"x": [48], "last": [12]}, {"z": [64]}),
    "policy": ({"z": [64]}, {"raw": [12]}),
    "limit": ({"raw": [12]}, {"action": [12], "power": []}),
}


def write_bundle(folder: Path, nodes: dict[str, nn.Module], batch: int) -> Path:
    """Write the four nodes as TorchScript files with their YAML."""

    def ports(side: dict[str, list[int]]) -> list[dict[str, Any]]:
        return [
            {"name": name, "dtype": "float32", "shape": [batch, *shape], "type": "tensor"}
            for name, shape in side.items()
        ]

    models = {}
    for name, module in nodes.items():
        path = folder / f"{name}.pt"
        torch.jit.script(module).save(str(path))
        content = path.read_bytes()
        models[name] = {
            "inputs": ports(PORTS[name][0]),
            "outputs": ports(PORTS[name][1]),
            "parameters": {
                "model_path": path.name,
                "md5sum": hashlib.md5(content).hexdigest(),
                "sha256sum": hashlib.sha256(content).hexdigest(),
                "backend": "jit",
            },
        }
    document = {
        "models": models,
        "pipeline": {
            "data_flow": {
                "normalise/x": ["encoder/x"],
                "encoder/z": ["policy/z"],
                "policy/raw": ["limit/raw"],
            },
            "feedback_flow": {"limit/action": ["encoder/last"]},
            "inputs": {"normalise": ["obs"]},
            "outputs": {"limit": ["action", "power"]},
        },
        "system information": {"leapp config version": "1.3"},
    }
    path = folder / "gpu.yaml"
    path.write_text(json.dumps(document))  # JSON is YAML
    return path


class Pipeline:
    """The same four nodes, written by hand."""

    def __init__(self, nodes: dict[str, Any], batch: int, obs: Tensor) -> None:
        self.nodes, self.obs = nodes, obs
        self.action = torch.zeros(batch, 12, device=obs.device)

    def tick(self) -> tuple[Tensor, Tensor]:
        z = self.nodes["encoder"](self.nodes["normalise"](self.obs), self.action)
        action, power = self.nodes["limit"](self.nodes["policy"](z))
        self.action = action
        return action, power


def replayed(nodes: dict[str, Any], batch: int, obs: Tensor) -> tuple[Callable[[], None], Tensor]:
    """Capture all four as one CUDA graph; return it with its action."""
    pipeline = Pipeline(nodes, batch, obs)
    static = torch.zeros(batch, 12, device=obs.device)

    def tick() -> Tensor:
        pipeline.action = static
        action, _ = pipeline.tick()
        static.copy_(action)
        return static

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            tick()
    torch.cuda.current_stream().wait_stream(side)
    static.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tick()
    static.zero_()
    return graph.replay, static


def waited(tick: Callable[[], Any]) -> Callable[[], None]:
    """Return the tick with the wait for its end, as in LEAPP's own."""

    def run() -> None:
        tick()
        torch.cuda.synchronize()

    return run


def measure(contestants: dict[str, Callable[[], Any]], ticks: int) -> dict[str, float]:
    """Return the median microseconds per tick, measured alternately."""
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    for tick in contestants.values():
        for _ in range(20):
            tick()
    torch.cuda.synchronize()
    for _ in range(ticks // 20):
        for name, tick in contestants.items():
            for _ in range(20):
                began = time.perf_counter()
                tick()
                samples[name].append((time.perf_counter() - began) * 1e6)
    return {name: statistics.median(values) for name, values in samples.items()}


def run(batch: int, ticks: int) -> dict[str, Any]:
    torch.manual_seed(0)
    nodes: dict[str, nn.Module] = {
        "normalise": Normalise(), "encoder": Encoder(), "policy": Policy(), "limit": Limit()
    }  # fmt: skip
    for module in nodes.values():
        module.eval().requires_grad_(False)
    obs = torch.randn(batch, 48, device="cuda")
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        # Exported on the CPU, run on the GPU: the manager moves the weights.
        path = write_bundle(Path(folder), nodes, batch)
        manager = leapp.InferenceManager(path, provider="cuda")
        manager.bind_input("normalise/obs", obs)
        manager.prepare()
        for module in nodes.values():
            module.cuda()
        frozen = {name: torch.jit.freeze(torch.jit.script(m)) for name, m in nodes.items()}
        eager_pipeline = Pipeline(nodes, batch, obs)
        frozen_pipeline = Pipeline(frozen, batch, obs)
        replay, action = replayed(nodes, batch, obs)
        for _ in range(5):
            expected, _ = eager_pipeline.tick()
            replay()
            ours = manager.run_policy({})["limit/action"]
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(action, expected, rtol=1e-4, atol=1e-5)
        assert ours.is_cuda
        times = measure(
            {
                "eager": waited(eager_pipeline.tick),
                "frozen": waited(frozen_pipeline.tick),
                "replay": waited(replay),
                "leapp": manager.tick,
            },
            ticks,
        )
    times["leapp / replay"] = times["leapp"] / times["replay"]
    return {"batch": batch, "steps": manager.description(), **times}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batches", default="1,4096")
    parser.add_argument("--ticks", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("There is no GPU here.")
        return
    card = torch.cuda.get_device_name()
    results = [run(int(batch), arguments.ticks) for batch in arguments.batches.split(",")]
    print(f"{card}, torch {torch.__version__}, {datetime.date.today()}")
    for result in results:
        print({k: round(v, 2) if isinstance(v, float) else v for k, v in result.items()})
    if arguments.json:
        report = {"card": card, "torch": torch.__version__, "results": results}
        arguments.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
