"""Real networks with random weights, built in code, for measuring exporters."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


def mlp(*sizes: int) -> nn.Sequential:
    """Linear layers with ELU between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        blocks: list[nn.Module] = []
        width = 64
        for stage in (64, 128, 256, 512):
            for number in range(2):
                blocks.append(Residual(width, stage, 2 if stage > 64 and number == 0 else 1))
                width = stage
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(512, 10)

    def forward(self, image: Tensor) -> Tensor:
        features = self.blocks(self.stem(image)).mean((2, 3))
        out: Tensor = self.head(features)
        return out


class VitTiny(nn.Module):
    def __init__(self, width: int = 192, depth: int = 6, heads: int = 3) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, width, 16, 16)
        self.cls = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.position = nn.Parameter(torch.randn(1, 17, width) * 0.02)
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm1": nn.LayerNorm(width),
                    "qkv": nn.Linear(width, 3 * width),
                    "out": nn.Linear(width, width),
                    "norm2": nn.LayerNorm(width),
                    "mlp": nn.Sequential(
                        nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
                    ),
                }
            )
            for _ in range(depth)
        )
        self.heads, self.norm, self.head = heads, nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.position
        n, t, c = x.shape
        for layer in self.layers:
            qkv = layer["qkv"](layer["norm1"](x)).view(n, t, 3, self.heads, c // self.heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, t, c)
            x = x + layer["out"](y)
            x = x + layer["mlp"](layer["norm2"](x))
        out: Tensor = self.head(self.norm(x[:, 0]))
        return out


class MobileBlocks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16)]
        for width in (16, 24, 32):
            layers += [
                nn.LazyConv2d(4 * width, 1, bias=False),
                nn.BatchNorm2d(4 * width),
                nn.Hardswish(),
                nn.Conv2d(4 * width, 4 * width, 3, 2, 1, groups=4 * width, bias=False),
                nn.BatchNorm2d(4 * width),
                nn.Hardswish(),
                nn.Conv2d(4 * width, width, 1),
            ]
        self.net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 8))

    def forward(self, image: Tensor) -> Tensor:
        out: Tensor = self.net(image)
        return out


class DiffusionUnet(nn.Module):
    """A one-dimensional U-Net over an action trajectory, modulated by time and observation."""

    def __init__(self, channels: int = 32) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 64), nn.Mish(), nn.Linear(64, channels * 2))
        self.observe = nn.Linear(10, channels * 2)
        self.inp = nn.Conv1d(4, channels, 5, padding=2)
        self.down = nn.Conv1d(channels, channels, 3, 2, 1)
        self.mid = nn.Sequential(
            nn.GroupNorm(8, channels), nn.Mish(), nn.Conv1d(channels, channels, 5, padding=2)
        )
        self.up = nn.ConvTranspose1d(channels, channels, 4, 2, 1)
        self.out = nn.Conv1d(2 * channels, 4, 1)

    def forward(self, noisy: Tensor, step: Tensor, obs: Tensor) -> Tensor:
        frequencies = torch.exp(torch.arange(8) * (-math.log(10000.0) / 7))
        angles = step[:, None] * frequencies
        embedding = self.time(torch.cat([angles.sin(), angles.cos()], -1)) + self.observe(obs)
        scale, bias = embedding.unsqueeze(-1).chunk(2, 1)
        a = F.mish(self.inp(noisy)) * (1 + scale) + bias
        b = self.mid(self.down(a))
        out: Tensor = self.out(torch.cat([self.up(b), a], 1))
        return out


class PointNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.local = nn.Sequential(nn.Conv1d(3, 64, 1), nn.ReLU(), nn.Conv1d(64, 128, 1))
        self.head = mlp(131, 64, 6)

    def forward(self, points: Tensor) -> Tensor:
        centre = points.mean(1, keepdim=True)
        features = self.local((points - centre).transpose(1, 2)).amax(-1)
        out: Tensor = self.head(torch.cat([features, centre.squeeze(1)], -1))
        return out


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.GRU] | type[nn.LSTM], layers: int) -> None:
        super().__init__()
        self.rnn = kind(32, 64, num_layers=layers)
        self.head = mlp(64, 32, 8)

    def forward(self, window: Tensor) -> Tensor:
        features, _ = self.rnn(window)
        out: Tensor = self.head(features[-1])
        return out


class CausalTransformer(nn.Module):
    """A decoder block over a window with a key-value cache passed in and out."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = mlp(width, 4 * width, width)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y = self.norm1(x)
        keys = torch.cat([keys[:, 1:], self.k(y)], 1)
        values = torch.cat([values[:, 1:], self.v(y)], 1)
        weights = torch.softmax(self.q(y) @ keys.transpose(1, 2) / 8.0, -1)
        x = x + self.o(weights @ values)
        return x + self.mlp(self.norm2(x)), keys, values


class Vae(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1), nn.Flatten()
        )
        self.latent = nn.Linear(32 * 64, 32)
        self.decoder = nn.Sequential(
            nn.Linear(16, 32 * 64), nn.Unflatten(1, (32, 8, 8)), nn.ReLU(),
            nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1),
        )  # fmt: skip

    def forward(self, image: Tensor, noise: Tensor) -> Tensor:
        mean, log_variance = self.latent(self.encoder(image)).chunk(2, -1)
        out: Tensor = torch.sigmoid(self.decoder(mean + (0.5 * log_variance).exp() * noise))
        return out


class ActDecoder(nn.Module):
    """Action chunks: learned queries attend to encoded observations."""

    def __init__(self, width: int = 64, chunk: int = 16) -> None:
        super().__init__()
        self.embed = nn.Linear(14, width)
        self.encoder = nn.TransformerEncoderLayer(width, 4, 128, dropout=0.0, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(width, 4, 128, dropout=0.0, batch_first=True)
        self.queries = nn.Parameter(torch.randn(1, chunk, width) * 0.1)
        self.head = nn.Linear(width, 7)

    def forward(self, tokens: Tensor) -> Tensor:
        memory = self.encoder(self.embed(tokens))
        out: Tensor = self.head(self.decoder(self.queries, memory))
        return out


class NormalisedHistory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.randn(20))
        self.register_buffer("variance", torch.rand(20) + 0.5)
        self.mean: Tensor
        self.variance: Tensor
        self.net = mlp(100, 128, 64, 6)

    def forward(self, obs: Tensor, history: Tensor) -> tuple[Tensor, Tensor]:
        obs = ((obs - self.mean) / torch.sqrt(self.variance + 1e-5)).clamp(-5, 5)
        history = torch.cat([obs[:, None], history[:, :-1]], 1)
        return torch.tanh(self.net(history.flatten(1))), history


@dataclasses.dataclass(frozen=True)
class Network:
    make: Callable[[], nn.Module]
    inputs: Callable[[], tuple[Tensor, ...]]


NETWORKS: dict[str, Network] = {
    "mlp": Network(lambda: mlp(48, 512, 256, 128, 12), lambda: (torch.randn(1, 48),)),
    "resnet18": Network(ResNet18, lambda: (torch.randn(1, 3, 64, 64),)),
    "vit_tiny": Network(VitTiny, lambda: (torch.randn(1, 3, 64, 64),)),
    "mobile": Network(MobileBlocks, lambda: (torch.randn(1, 3, 64, 64),)),
    "unet": Network(
        DiffusionUnet,
        lambda: (torch.randn(1, 4, 16), torch.tensor([7.0]), torch.randn(1, 10)),
    ),
    "pointnet": Network(PointNet, lambda: (torch.randn(1, 256, 3),)),
    "gru": Network(lambda: Recurrent(nn.GRU, 1), lambda: (torch.randn(4, 1, 32),)),
    "lstm": Network(lambda: Recurrent(nn.LSTM, 2), lambda: (torch.randn(4, 1, 32),)),
    "transformer": Network(
        CausalTransformer,
        lambda: (torch.randn(1, 1, 64), torch.randn(1, 8, 64), torch.randn(1, 8, 64)),
    ),
    "vae": Network(Vae, lambda: (torch.rand(1, 1, 32, 32), torch.randn(1, 16))),
    "act": Network(ActDecoder, lambda: (torch.randn(1, 10, 14),)),
    "history": Network(NormalisedHistory, lambda: (torch.randn(1, 20), torch.randn(1, 5, 20))),
}


def build(name: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Return a network in eval mode with inputs, the same in every call."""
    torch.manual_seed(0)
    network = NETWORKS[name]
    model = network.make().eval()
    inputs = network.inputs()
    with torch.no_grad():
        model(*inputs)  # lazy layers get their shapes
    return model, inputs
