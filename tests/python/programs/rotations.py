"""Rotations, frames and small linear algebra."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import quat_mul, quat_rotate_inverse


def quaternions(rng: torch.Generator, n: int) -> torch.Tensor:
    return F.normalize(normal(rng, n, 4), dim=-1)


class _OneNode(Policy):
    """A program whose ``maths`` receives the tensors of ``sense`` and returns named outputs."""

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        raise NotImplementedError

    def step(self, inputs: Ports) -> Ports:
        named = {key.split("/")[1]: value for key, value in inputs.items()}
        values = annotate.input_tensors("maths", named)
        outputs = self.maths(*(values if len(named) > 1 else [values]))
        results = annotate.output_tensors("maths", outputs, export_with=self.backend)
        results = results if len(outputs) > 1 else [results]
        return {f"maths/{k}": v for k, v in zip(outputs, results, strict=True)}


@program()
class QuaternionProduct(_OneNode):
    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/a": quaternions(rng, 3), "maths/b": quaternions(rng, 3)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        a, b = values
        error = quat_mul(a, b * torch.tensor([1.0, -1.0, -1.0, -1.0]))
        error = torch.where(error[:, :1] < 0, -error, error)
        angle = 2 * torch.atan2(error[:, 1:].norm(dim=-1), error[:, 0])
        return {"error": error, "angle": angle}


@program()
class QuaternionToMatrix(_OneNode):
    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/q": quaternions(rng, 2)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        r, i, j, k = torch.unbind(values[0], -1)
        two_s = 2.0 / (values[0] * values[0]).sum(-1)
        o = torch.stack(
            (
                1 - two_s * (j * j + k * k), two_s * (i * j - k * r), two_s * (i * k + j * r),
                two_s * (i * j + k * r), 1 - two_s * (i * i + k * k), two_s * (j * k - i * r),
                two_s * (i * k - j * r), two_s * (j * k + i * r), 1 - two_s * (i * i + j * j),
            ),
            -1,
        )  # fmt: skip
        matrix = o.reshape((*values[0].shape[:-1], 3, 3))
        return {"matrix": matrix, "six": matrix[..., :2].transpose(-1, -2).flatten(-2)}


@program()
class SixDimensionalRotation(_OneNode):
    """Gram-Schmidt from six numbers."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/six": normal(rng, 2, 6)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        a1, a2 = values[0][..., :3], values[0][..., 3:]
        b1 = F.normalize(a1, dim=-1)
        b2 = F.normalize(a2 - (b1 * a2).sum(-1, keepdim=True) * b1, dim=-1)
        b3 = torch.linalg.cross(b1, b2)
        return {"rotation": torch.stack((b1, b2, b3), dim=-2)}


@program()
class EulerAngles(_OneNode):
    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/q": quaternions(rng, 2)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        w, x, y, z = values[0].unbind(-1)
        roll = torch.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        pitch = torch.asin(torch.clamp(2 * (w * y - z * x), -1, 1))
        yaw = torch.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        wrapped = torch.remainder(yaw + torch.pi, 2 * torch.pi) - torch.pi
        return {"euler": torch.stack([roll, pitch, wrapped], -1)}


@program()
class BodyFrame(_OneNode):
    """Points and velocities into the body frame with bmm and einsum."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {
            "maths/q": quaternions(rng, 2),
            "maths/points": normal(rng, 2, 7, 3),
            "maths/v": normal(rng, 2, 3),
        }

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        q, points, v = values
        local = quat_rotate_inverse(q, v)
        repeated = q.repeat_interleave(7, dim=0)
        cloud = quat_rotate_inverse(repeated, points.reshape(-1, 3)).view(2, 7, 3)
        gram = torch.einsum("bnd,bmd->bnm", cloud, cloud)
        return {"local": local, "cloud": cloud, "gram": gram}


@program()
class ForwardKinematics(_OneNode):
    """A chain of homogeneous transforms, filled by slices and multiplied in a loop."""

    def build(self) -> None:
        self.lengths = [0.3, 0.25, 0.1]

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/q": normal(rng, 1, 3)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        q = values[0]
        pose = torch.eye(3).repeat(1, 1, 1)
        for joint, length in enumerate(self.lengths):
            c, s = torch.cos(q[:, joint]), torch.sin(q[:, joint])
            link = torch.zeros(1, 3, 3)
            link[:, 0, 0], link[:, 0, 1] = c, -s
            link[:, 1, 0], link[:, 1, 1] = s, c
            link[:, 0, 2] = length * c
            link[:, 1, 2] = length * s
            link[:, 2, 2] = 1
            pose = pose @ link
        return {"tip": pose[:, :2, 2]}


@program()
class DampedInverse(_OneNode):
    """Damped least squares on a 2 x 3 Jacobian by the closed form of a 2 x 2 inverse."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/jacobian": normal(rng, 2, 3), "maths/error": normal(rng, 2)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        jacobian, error = values
        m = jacobian @ jacobian.T + 0.1 * torch.eye(2)
        determinant = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
        inverse = (
            torch.stack([torch.stack([m[1, 1], -m[0, 1]]), torch.stack([-m[1, 0], m[0, 0]])])
            / determinant
        )
        return {"dq": jacobian.T @ (inverse @ error)}


@program()
class LinearSolve(_OneNode):
    """A Kalman-like gain by torch.linalg.solve and cholesky."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/h": normal(rng, 2, 4), "maths/r": torch.rand(2, generator=rng) + 0.1}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        h, r = values
        s = h @ h.T + torch.diag(r)
        gain = torch.linalg.solve(s, h).T
        return {"gain": gain, "root": torch.linalg.cholesky(s)}


@program()
class DoublePrecision(_OneNode):
    """An estimator in float64 with float32 outputs."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/x": normal(rng, 4).double(), "maths/y": normal(rng, 4)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        x, y = values
        total = torch.cumsum(x * y, 0) / torch.arange(1, 5, dtype=torch.float64)
        return {"precise": total, "rough": total.float() * y}


@program()
class FourierFeatures(_OneNode):
    """The power spectrum of a window, as real numbers."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"maths/window": normal(rng, 1, 16)}

    def maths(self, *values: torch.Tensor) -> dict[str, torch.Tensor]:
        spectrum = torch.fft.rfft(values[0], dim=-1)
        filtered = torch.fft.irfft(spectrum * torch.linspace(1, 0, 9), n=16, dim=-1)
        return {"power": spectrum.abs().square(), "filtered": filtered}
