"""Linear algebra, sums of products, distances, statistics and Fourier transforms in ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from conftest import Workbench
from onnx_fresh import case, check, normal
from torch import Tensor

import leapp
from leapp import annotate

INF = float("inf")


def steady(x: Tensor) -> Tensor:
    """A matrix far from singular."""
    return x + 4 * torch.eye(x.shape[-1])


FUNCTIONS: dict[str, Callable[[Tensor], Any]] = {
    "einsum-product": lambda x: torch.einsum("ij,kj->ik", x, x),
    "einsum-diagonal": lambda x: torch.einsum("ii->i", x),
    "einsum-dots": lambda x: torch.einsum("...i,...i", x, x),
    "einsum-chain": lambda x: torch.einsum("ij,jk,kl->il", x, x, x),
    "einsum-all": lambda x: torch.einsum("ij,ij->", x, x),
    "einsum-batch": lambda x: torch.einsum("bij,bjk->bik", x[None], x[None]),
    "einsum-outer": lambda x: torch.einsum("i,j->ij", x[0], x[1]),
    "tensordot": lambda x: torch.tensordot(x, x, ([0], [0])),
    "multi_dot": lambda x: torch.linalg.multi_dot([x, x, x]),
    "powers": lambda x: (
        torch.linalg.matrix_power(x, 3),
        torch.linalg.matrix_power(steady(x), -2),
    ),
    "exponential": lambda x: (torch.matrix_exp(x), torch.matrix_exp(x * 2)),
    "determinant": lambda x: (torch.det(x), *torch.slogdet(x)),
    "inverse": lambda x: torch.inverse(steady(x)),
    "inverse-batch": lambda x: torch.inverse(steady(x[None].expand(3, 4, 4))),
    "solve": lambda x: (torch.linalg.solve(steady(x), x[0]), torch.linalg.solve(steady(x), x)),
    "triangular": lambda x: torch.linalg.solve_triangular(steady(x.triu()), x, upper=True),
    "pinv": lambda x: (torch.linalg.pinv(steady(x)), torch.linalg.pinv(x[:3])),
    "cholesky": lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(4)),
    "qr": lambda x: torch.linalg.qr(x),
    "lu": lambda x: torch.linalg.lu(x),
    "lstsq": lambda x: torch.linalg.lstsq(steady(x), x[:, :2]).solution,
    "eigenvalues": lambda x: torch.linalg.eigvalsh(x @ x.T),
    "singular-values": lambda x: torch.linalg.svdvals(x),
    "norms": lambda x: (
        torch.linalg.norm(x, 1),
        torch.linalg.norm(x, 2),
        torch.linalg.norm(x, "fro"),
        torch.linalg.norm(x, "nuc"),
        torch.linalg.norm(x, -INF),
        torch.linalg.vector_norm(x, 3, dim=1),
        torch.linalg.vector_norm(x, 0.5),
    ),
    "condition": lambda x: torch.linalg.cond(steady(x)),
    "cross": lambda x: torch.linalg.cross(x[:, :3], x[:, 1:4]),
    "covariance": lambda x: (torch.cov(x), torch.corrcoef(x)),
    "quantiles": lambda x: (
        torch.quantile(x, torch.tensor([0.1, 0.5, 0.9]), dim=0),
        torch.quantile(x, 0.37, interpolation="nearest"),
        torch.quantile(x, 0.37, dim=1, interpolation="lower", keepdim=True),
    ),
    "order": lambda x: (x.median(), x.round().mode(0)[0], *x.kthvalue(3, 0)),
    "histogram": lambda x: torch.histc(x, 5, -2, 2),
    "moments": lambda x: (*torch.std_mean(x, (0, 1)), torch.var(x, 1, correction=3)),
    "fourier": lambda x: (torch.fft.rfft(x).abs(), torch.fft.irfft(torch.fft.rfft(x) * 2)),
    "fourier-parts": lambda x: torch.view_as_real(torch.fft.fft2(x)),
    "complex": lambda x: torch.view_as_real(torch.complex(x, x) * torch.complex(x, -x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_matrices(name: str, bench: Workbench) -> None:
    check(bench, case(FUNCTIONS[name], normal(4, 4)))


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, INF])
@pytest.mark.parametrize("rows", [5, 40])
def test_distances(p: float, rows: int, bench: Workbench) -> None:
    """Above 25 rows PyTorch uses a different algorithm, which rounds differently."""
    check(bench, case(lambda a, b: torch.cdist(a, b, p=p), normal(rows, 3), normal(30, 3)))


def rotation(q: Tensor) -> Tensor:
    """Return the matrix of a quaternion (w, x, y, z)."""
    w, x, y, z = torch.nn.functional.normalize(q, dim=-1).unbind(-1)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return torch.stack(rows, -1).unflatten(-1, (3, 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_rotations(dtype: torch.dtype, bench: Workbench) -> None:
    def angles(q: Tensor) -> tuple[Tensor, ...]:
        m = rotation(q)
        yaw = torch.atan2(m[..., 1, 0], m[..., 0, 0])
        pitch = torch.asin((-m[..., 2, 0]).clamp(-1, 1))
        roll = torch.atan2(m[..., 2, 1], m[..., 2, 2])
        angle = torch.acos(((m.diagonal(dim1=-2, dim2=-1).sum(-1) - 1) / 2).clamp(-1, 1))
        return m, yaw, pitch, roll, angle

    check(bench, case(angles, normal(6, 4, dtype=dtype)))


@pytest.mark.parametrize("name", ["cholesky", "inv", "solve", "lu_factor"])
def test_a_tick_fails_if_pytorch_raises(name: str, bench: Workbench) -> None:
    """Return matrices without such factors or inverse."""
    function = getattr(torch.linalg, name)

    def factor(a: Tensor) -> Tensor:
        made = function(a, a) if name == "solve" else function(a)
        return made if isinstance(made, Tensor) else made[0]

    with bench.trace():
        a = annotate.input_tensors("n", {"a": torch.eye(3).expand(2, 3, 3)})
        annotate.output_tensors("n", {"y": factor(a)}, export_with="onnx")
    bench.compile()
    manager = bench.manager()
    manager.run_policy({"n/a": 2 * torch.eye(3).expand(2, 3, 3)})
    with pytest.raises(RuntimeError):
        factor(torch.zeros(2, 3, 3))
    with pytest.raises(leapp.LeappError) as failed:
        manager.run_policy({"n/a": torch.zeros(2, 3, 3)})
    assert failed.value.code == "LP611"


def test_ex_variants_return_the_failing_step(bench: Workbench) -> None:
    with bench.trace():
        a = annotate.input_tensors("n", {"a": torch.eye(3)})
        info = torch.linalg.cholesky_ex(a).info
        annotate.output_tensors("n", {"info": info}, export_with="onnx")
    bench.compile()
    assert int(bench.manager().run_policy({"n/a": -torch.eye(3)})["n/info"]) == 1
