"""An export is a process that runs once, so compile_graph() imports nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys

import torch
from torch import nn

import leapp
from leapp import annotate

actor = nn.Sequential(nn.Linear(48, 512), nn.ELU(), nn.Linear(512, 256), nn.Linear(256, 12))
eyes = nn.Sequential(nn.Conv2d(3, 32, 5, stride=2), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.Flatten())
history = torch.zeros(4, 48)


def step(obs, image):
    obs, image = annotate.input_tensors("policy", {"obs": obs, "image": image})
    history.copy_(torch.roll(history, 1, 0))
    history[0] = obs
    obs = obs.clone()
    obs[obs > 1] = 1.0
    near = obs[obs.abs() < 0.5].sum() + torch.nonzero(obs)[:, 0].float().mean()
    seen = eyes(image[None])[:, :12] @ torch.ones(12, 12)
    action = actor(obs)[None] + seen + near + history.mean()
    annotate.output_tensors("policy", {"action": action}, export_with=sys.argv[1])


with torch.no_grad():
    leapp.start("cold", save_path=sys.argv[2])
    for _ in range(2):
        step(torch.randn(48), torch.rand(3, 64, 64))
    leapp.stop()
before = set(sys.modules)
leapp.compile_graph()
print("imported:", sorted(set(sys.modules) - before))
"""


def test_compile_graph_imports_nothing(tmp_path: Path) -> None:
    for backend in ("jit", "onnx"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, backend, str(tmp_path)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "imported: []", done.stdout
