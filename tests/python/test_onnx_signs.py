"""Singular vectors and eigenvectors: exported if their signs cancel, otherwise refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from conftest import Workbench, refused
from onnx_fresh import case, check, normal
from torch import Tensor

svd, eigh, det = torch.linalg.svd, torch.linalg.eigh, torch.linalg.det


def rotation_by_scaling(m: Tensor) -> Tensor:
    """Return the nearest rotation: the last singular direction may have to be flipped."""
    u, _, vh = svd(m)
    turn = torch.stack([torch.ones(()), torch.ones(()), det(u @ vh)])
    return u @ torch.diag_embed(turn) @ vh


def rotation_by_parts(m: Tensor) -> Tensor:
    u, _, vh = svd(m)
    sign = det(u) * det(vh)
    return torch.cat([u[:, :2], u[:, 2:] * sign], -1) @ vh


def rotation_by_writing(m: Tensor) -> Tensor:
    """Compute Kabsch's algorithm in its usual form."""
    u, _, vh = svd(m)
    vh = vh.clone()
    vh[2] = vh[2] * torch.sign(det(vh.mT @ u.mT))
    return vh.mT @ u.mT


def root(m: Tensor) -> Tensor:
    w, v = eigh(m @ m.mT)
    return v @ torch.diag(w.clamp(min=0).sqrt()) @ v.mT


def low_rank(m: Tensor) -> Tensor:
    u, s, vh = svd(m, full_matrices=False)
    return (u[:, :1] * s[:1]) @ vh[:1]


def batched(m: Tensor) -> Tensor:
    u, _, vh = svd(torch.stack([m, m.mT + 1]))
    return u @ vh


def old_style(m: Tensor) -> Tensor:
    u, s, v = torch.svd(m)
    return u * s @ v.T


CANCEL: dict[str, Callable[[Tensor], Any]] = {
    "product": lambda m: (lambda u, s, vh: (u @ vh, s))(*svd(m)),
    "scaling": rotation_by_scaling,
    "parts": rotation_by_parts,
    "writing": rotation_by_writing,
    "root": root,
    "low-rank": low_rank,
    "batched": batched,
    "old-style": old_style,
    "sizes": lambda m: eigh(m @ m.mT)[1].abs(),
}


@pytest.mark.parametrize("name", CANCEL)
def test_signs_cancel(name: str, bench: Workbench) -> None:
    check(bench, case(CANCEL[name], normal(3, 3)), rounds=5)


@pytest.mark.parametrize("shape", [(4, 3), (3, 5)])
def test_matrices_that_are_not_square(shape: tuple[int, int], bench: Workbench) -> None:
    check(bench, case(low_rank, normal(*shape)))


def mixed_up(m: Tensor) -> Tensor:
    """The columns of one factor are multiplied by other rows of the other."""
    u, _, vh = svd(m)
    return u @ vh.flip(0)


MATTER: dict[str, Callable[[Tensor], Any]] = {
    "output": lambda m: svd(m)[0],
    "eigenvectors": lambda m: eigh(m @ m.mT)[1],
    "one-side": lambda m: svd(m)[0] @ m,
    "sum": lambda m: svd(m)[0] + svd(m)[2],
    "first-vector": lambda m: eigh(m @ m.mT)[1][:, -1],
    "mixed-up": mixed_up,
    "not-diagonal": lambda m: (lambda u, s, vh: u @ m @ vh)(*svd(m)),
    "determinant": lambda m: det(svd(m)[0]),
    "sign": lambda m: torch.relu(svd(m)[2]),
}


@pytest.mark.parametrize("name", MATTER)
def test_signs_matter(name: str, bench: Workbench) -> None:
    with refused("LP502"):
        check(bench, case(MATTER[name], normal(3, 3)))
