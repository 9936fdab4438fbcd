"""Memory that NumPy writes: arrays and tensors, through views, masks and ``out=``; copies of it."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
from conftest import Workbench
from numpy_check import check, check_tensors


def write_item(a: np.ndarray) -> np.ndarray:
    b = a * 1
    b[0] = 5
    b[:, 1] = b[:, 0] + 1
    b[1, 2] += 3
    return b


def write_in_place(a: np.ndarray) -> np.ndarray:
    b = a.copy()
    b += 1
    b *= a
    np.sin(b, out=b)
    return b


def write_through_a_view(a: np.ndarray) -> np.ndarray:
    b = a * 1
    row = b[1]
    row[:] = a[0]
    b[::-1][0, 0] = 9
    return b


def write_by_mask(a: np.ndarray) -> np.ndarray:
    b = a * 1
    b[a > 2] = -1
    return b


def write_by_function(a: np.ndarray) -> np.ndarray:
    b = np.zeros_like(a)
    np.copyto(b, a, where=a > 2)
    np.putmask(b, a < 2, [7.0, 8.0])
    b.sort(axis=1)
    return b


def fill(a: np.ndarray) -> np.ndarray:
    b = a * 1
    b.fill(3)
    return b + a


def write_to_new_memory(a: np.ndarray) -> np.ndarray:
    b = np.zeros((3, 3), dtype=np.float32)
    b[0] = a[1]
    b[1, :2] = a[0, :2]
    b[2] = np.full(3, a[0, 0])
    c = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    c[1] = a[1, 1]
    return b + c


def write_to_out(a: np.ndarray) -> np.ndarray:
    out = np.empty((2, 3), dtype=np.float32)
    np.add(a, 1, out=out)
    np.concatenate([a[:, :1], a[:, 1:]], axis=1, out=out[:, :])
    a.sum(axis=0, out=out[1])
    return out


def write_backwards(a: np.ndarray) -> np.ndarray:
    out = np.zeros((2, 6), dtype=np.float32)
    out[::-1, 4::-2] = a
    out[0, ::-1] += out[1] * 2
    out[::-1][:1, 0] = a[0, 1]
    return out


def add_to_a_number(a: np.ndarray) -> np.ndarray:
    number = first = a[0, 0]
    number += a[0, 1]
    count = (a > 0).sum()
    count += 0.5
    return a * number + first * count


@pytest.mark.parametrize(
    "compute",
    [
        add_to_a_number,
        write_backwards,
        write_to_new_memory,
        write_to_out,
        write_item,
        write_in_place,
        write_through_a_view,
        write_by_mask,
        write_by_function,
        fill,
    ],
)
def test_write_stays_in_the_model(
    bench: Workbench, compute: Callable[[np.ndarray], np.ndarray]
) -> None:
    check(bench, compute)


def _write_all(x: torch.Tensor) -> torch.Tensor:
    made = torch.zeros(x.shape)
    made.numpy()[:] = x.numpy()
    return made * 2


def _write_one(x: torch.Tensor) -> torch.Tensor:
    made = torch.zeros(x.shape)
    made.numpy()[..., 1] = x.numpy()[..., 0]
    return made + x


def _write_row(x: torch.Tensor) -> torch.Tensor:
    made = torch.zeros(2, *x.shape)
    np.add(x.numpy(), 1, out=made[0].numpy())
    return made.sum(0)


@pytest.mark.parametrize("compute", [_write_all, _write_one, _write_row])
def test_writes_to_a_tensor_through_its_array(
    bench: Workbench, compute: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    check_tensors(bench, compute)


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy], ids=["deepcopy", "copy"])
def test_copied_tensor_stays_traced(
    bench: Workbench, copied: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    check_tensors(bench, lambda x: x + copied(x))


def test_memory_that_a_tensor_takes_over_stays_traced(bench: Workbench) -> None:
    check_tensors(bench, lambda x: x + torch.empty(0).set_(x.untyped_storage(), 0, x.shape))
