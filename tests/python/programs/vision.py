"""Cameras and point clouds."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from leapp import annotate

from . import Policy, Ports, normal, program


class _Camera(Policy):
    size: tuple[int, ...] = (1, 3, 16, 16)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"vision/image": torch.rand(*self.size, generator=rng)}

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def step(self, inputs: Ports) -> Ports:
        image = annotate.input_tensors("vision", {"image": inputs["vision/image"]})
        features = annotate.output_tensors(
            "vision", {"features": self.forward(image)}, export_with=self.backend
        )
        return {"vision/features": features}


@program(ticks=10)
class CameraCnn(_Camera):
    """Strided convolutions, batch norm in eval mode, pooling."""

    def build(self) -> None:
        self.net = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
            nn.Conv2d(8, 8, 3, padding=1, groups=4), nn.GroupNorm(2, 8), nn.SiLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 6),
        ).eval()  # fmt: skip

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
        out: torch.Tensor = self.net((image - mean.view(3, 1, 1)) / std.view(3, 1, 1))
        return out


@program(ticks=10)
class ByteImage(Policy):
    """A uint8 image in HWC order from a driver, channels last."""

    def build(self) -> None:
        self.conv = nn.Conv2d(3, 4, 5, stride=3)

    def sense(self, rng: torch.Generator) -> Ports:
        return {
            "vision/image": torch.randint(0, 256, (17, 20, 3), generator=rng, dtype=torch.uint8)
        }

    def step(self, inputs: Ports) -> Ports:
        image = annotate.input_tensors("vision", {"image": inputs["vision/image"]})
        x = image.permute(2, 0, 1).unsqueeze(0).float().div(255)
        x = F.max_pool2d(torch.relu(self.conv(x)), 2).flatten(1)
        features = annotate.output_tensors("vision", {"features": x}, export_with=self.backend)
        return {"vision/features": features}


@program(ticks=10)
class DepthCrop(_Camera):
    """Crop, resize, pad, log of depth with holes filled."""

    size = (1, 1, 20, 24)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        depth = torch.where(image < 0.1, torch.full_like(image, 0.9), image)
        crop = depth[..., 2:-2, 4:20]
        small = F.interpolate(crop, size=(8, 8), mode="bilinear", align_corners=False)
        padded = F.pad(small, (1, 1, 1, 1), mode="replicate")
        return torch.log1p(F.avg_pool2d(padded, 2)).flatten(1)


@program(ticks=10)
class SpatialSoftmax(_Camera):
    """Keypoints as expected pixel coordinates."""

    def build(self) -> None:
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        maps = self.conv(image)
        n, c, h, w = maps.shape
        weights = maps.view(n, c, h * w).softmax(-1)
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        return torch.cat([weights @ xs.reshape(-1), weights @ ys.reshape(-1)], -1)


@program(ticks=10)
class PatchTokens(_Camera):
    """unfold to patches, a learned position, a transformer block."""

    def build(self) -> None:
        self.embed = nn.Linear(3 * 16, 12)
        self.position = nn.Parameter(torch.randn(1, 16, 12) * 0.1)
        self.norm, self.mix = nn.LayerNorm(12), nn.Linear(16, 16)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        patches = image.unfold(2, 4, 4).unfold(3, 4, 4)
        patches = patches.permute(0, 2, 3, 1, 4, 5).reshape(1, 16, 48)
        x = self.embed(patches) + self.position
        return (x + self.mix(self.norm(x).transpose(1, 2)).transpose(1, 2)).mean(1)


@program(ticks=10)
class FrameStack(_Camera):
    """Three grey frames stacked by state."""

    def build(self) -> None:
        self.conv = nn.Conv2d(3, 4, 4, stride=4)
        self.frames = torch.zeros(1, 3, 16, 16)

    def step(self, inputs: Ports) -> Ports:
        image = annotate.input_tensors("vision", {"image": inputs["vision/image"]})
        frames = annotate.state_tensors("vision", {"frames": self.frames})
        grey = (image * torch.tensor([0.3, 0.6, 0.1]).view(1, 3, 1, 1)).sum(1, keepdim=True)
        frames = torch.cat([frames[:, 1:], grey], 1)
        self.frames = annotate.update_state("vision", {"frames": frames})
        features = annotate.output_tensors(
            "vision", {"features": self.conv(frames).flatten(1)}, export_with=self.backend
        )
        return {"vision/features": features}


@program(ticks=10)
class PointNet(Policy):
    """Shared layers over points, maximum over the cloud, and the index of the nearest point."""

    def build(self) -> None:
        self.net = nn.Sequential(nn.Conv1d(3, 8, 1), nn.ReLU(), nn.Conv1d(8, 8, 1)).eval()

    def sense(self, rng: torch.Generator) -> Ports:
        return {"cloud/points": normal(rng, 1, 32, 3)}

    def step(self, inputs: Ports) -> Ports:
        points = annotate.input_tensors("cloud", {"points": inputs["cloud/points"]})
        centred = points - points.mean(1, keepdim=True)
        feature = self.net(centred.transpose(1, 2)).max(dim=-1).values
        nearest = points.square().sum(-1).argmin(-1)
        pick = points.gather(1, nearest.view(1, 1, 1).expand(1, 1, 3)).squeeze(1)
        results = annotate.output_tensors(
            "cloud", {"feature": feature, "nearest": pick}, export_with=self.backend
        )
        return {"cloud/feature": results[0], "cloud/nearest": results[1]}


@program(ticks=10)
class NearestNeighbours(Policy):
    """Pairwise distances, three neighbours a point, their mean offset."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"cloud/points": normal(rng, 12, 3)}

    def step(self, inputs: Ports) -> Ports:
        points = annotate.input_tensors("cloud", {"points": inputs["cloud/points"]})
        squared = (points[:, None] - points[None]).square().sum(-1)
        squared = squared + torch.eye(12) * 1e6
        _, index = torch.topk(squared, 3, largest=False)
        offsets = points[index] - points[:, None]
        mean = annotate.output_tensors("cloud", {"mean": offsets.mean(1)}, export_with=self.backend)
        return {"cloud/mean": mean}


@program(ticks=10)
class OpticalWarp(_Camera):
    """grid_sample along a flow field."""

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        theta = torch.tensor([[[0.9, 0.1, 0.05], [-0.1, 0.9, 0.0]]])
        grid = F.affine_grid(theta, [1, 3, 8, 8], align_corners=False)
        return F.grid_sample(image, grid, align_corners=False).mean((2, 3))


@program(ticks=5)
class UpsamplingDecoder(_Camera):
    """Down and up again with skip connections and a transposed convolution."""

    def build(self) -> None:
        self.down, self.mid = nn.Conv2d(3, 6, 3, 2, 1), nn.Conv2d(6, 6, 3, 2, 1)
        self.up = nn.ConvTranspose2d(6, 6, 4, 2, 1)
        self.out = nn.Conv2d(12, 1, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        a = torch.relu(self.down(image))
        b = torch.relu(self.mid(a))
        c = torch.cat([self.up(b), a], 1)
        return F.interpolate(self.out(c), scale_factor=2, mode="nearest")
