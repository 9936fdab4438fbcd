"""Export a diffusion policy: ten denoising steps per tick, which draw noise.

python examples/12_diffusion_policy.py [directory]

Each draw becomes a noise port, and the denoising step one node with `repeat: 10`. The runtime fills
the noise: equal seeds give equal actions, in every language.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn

import leapp
from leapp import annotate

STEPS, HORIZON, JOINTS = 10, 8, 6


class DiffusionPolicy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 32), nn.Mish())
        self.net = nn.Sequential(
            nn.Linear(HORIZON * JOINTS + 32 + 1, 64), nn.Mish(), nn.Linear(64, HORIZON * JOINTS)
        )
        beta = torch.linspace(1e-2, 0.2, STEPS)
        product = torch.cumprod(1 - beta, 0)
        self.register_buffer("scale", beta / (1 - product).sqrt())
        self.register_buffer("root", (1 - beta).sqrt())
        sigma = beta.sqrt()
        sigma[0] = 0  # the last step draws nothing
        self.register_buffer("sigma", sigma)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        obs = annotate.input_tensors("encode", {"obs": obs})
        x, z = annotate.output_tensors(
            "encode",
            {"x": torch.randn(1, HORIZON * JOINTS), "z": self.encoder(obs)},
            export_with="onnx",
        )
        for run in range(STEPS):
            x = self.denoise(x, z, torch.tensor([run]))
        x = annotate.input_tensors("act", {"x": x})
        actions = x.reshape(1, HORIZON, JOINTS).clamp(-1, 1)
        return annotate.output_tensors("act", {"actions": actions}, export_with="onnx")

    def denoise(self, x: torch.Tensor, z: torch.Tensor, run: torch.Tensor) -> torch.Tensor:
        x, z, run = annotate.input_tensors("denoise", {"x": x, "z": z, "run": run})
        step = STEPS - 1 - run
        scale, root, sigma = (
            table.index_select(0, step) for table in (self.scale, self.root, self.sigma)
        )
        noise = self.net(torch.cat([x, z, step.float().unsqueeze(0) / STEPS], -1))
        x = (x - scale * noise) / root + sigma * torch.randn_like(x)
        return annotate.output_tensors("denoise", {"x_next": x}, export_with="onnx")


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    torch.manual_seed(0)
    policy = DiffusionPolicy().eval()
    repeat = {"repeat": STEPS, "carry": {"x_next": "x"}, "index": "run"}
    with torch.no_grad(), leapp.trace("diffusion", folder, schedule={"denoise": repeat}):
        for _ in range(3):
            policy(torch.randn(1, 12))
    leapp.compile_graph(golden=3)

    bundle = Path(folder) / "diffusion" / "diffusion.yaml"
    robot = leapp.InferenceManager(bundle, noise_seed=7)
    verified = robot.verify()  # feeds the traced noise
    print("noise:", ", ".join(robot.noise_inputs))
    print("golden ticks:", "equal" if verified.passed and not verified.left_out else "different")
    obs = torch.zeros(1, 12)
    first = robot.run_policy({"encode/obs": obs})["act/actions"]
    other = robot.run_policy({"encode/obs": obs})["act/actions"]
    robot.reset()
    again = robot.run_policy({"encode/obs": obs})["act/actions"]
    print("the next tick draws other noise:", not torch.equal(first, other))
    print("reset() starts the noise again:", torch.equal(first, again))


if __name__ == "__main__":
    main()
