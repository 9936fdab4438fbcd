"""A recurrent policy keeps its hidden state in a buffer: python examples/03_stateful_gru_export.py.

The model is ordinary PyTorch. annotate.module() names the module whose buffers LEAPP
tracks; buffers that the forward pass changes become state, the others are constants.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn

import leapp
from leapp import annotate


class GruPolicy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(16, 32)
        self.head = nn.Sequential(nn.Linear(32, 32), nn.ELU(), nn.Linear(32, 8))
        self.register_buffer("hidden", torch.zeros(1, 1, 32))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.hidden = self.gru(obs.unsqueeze(0), self.hidden)
        return self.head(out.squeeze(0))


@torch.no_grad()
def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    torch.manual_seed(0)
    model = GruPolicy().eval()

    leapp.start("gru", save_path=str(folder))
    obs = annotate.input_tensors("policy", {"obs": torch.randn(1, 16)})
    annotate.module("policy", model)
    annotate.output_tensors("policy", {"action": model(obs)}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph()

    robot = leapp.InferenceManager(str(folder / "gru" / "gru.yaml"))
    print("state:", ", ".join(robot.feedback_inputs))
    model.hidden = torch.zeros(1, 1, 32)
    for tick in range(5):
        obs = torch.full((1, 16), 0.2 * tick)
        exported = robot.run_policy({"policy/obs": obs})["policy/action"]
        assert torch.allclose(exported, model(obs), atol=1e-5)
        print(f"tick {tick}:", " ".join(f"{value:.4f}" for value in exported[0].tolist()))


if __name__ == "__main__":
    main()
