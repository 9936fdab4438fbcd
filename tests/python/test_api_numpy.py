"""NumPy on traced values: what is computed stays in the model, and what cannot is named."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench

from leapp import annotate

TRACED = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], dtype=np.float32)
FRESH = np.array([[0.5, -1.25, 2.0], [3.0, 6.5, 0.75]], dtype=np.float32)


def check_tensors(bench: Workbench, compute: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Export a function of a tensor and compare on fresh values."""
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())})
        annotate.output_tensors("n", {"y": compute(x)}, export_with="jit")
    bench.compile()
    fresh = torch.from_numpy(FRESH.copy())
    torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], compute(fresh))


def check(bench: Workbench, compute: Callable[[np.ndarray], Any]) -> None:
    """Trace NumPy code; on fresh input the model must give what NumPy gives."""
    expected = np.asarray(compute(TRACED.copy()))
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())})
        y = compute(x.numpy())
        assert np.array_equal(y.view(np.ndarray), expected, equal_nan=True)
        assert y.dtype == expected.dtype
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    bench.compile()
    found = bench.manager()({"n/x": torch.from_numpy(FRESH.copy())})["n/y"]
    fresh = np.asarray(compute(FRESH.copy()))
    np.testing.assert_allclose(found.numpy(), fresh, rtol=1e-4, atol=1e-5)


EXPRESSIONS = """
a * 2
2 - a
a / np.float64(3)
a ** 2
a // 2
a % 2
-a
a @ a.T
np.ones((2, 3)) + a
np.float32(2) * a
a > 2
~(a > 2)
(a > 1) & (a < 5)
a[0]
a[0, 1]
a[0, 1] * 2
a[:, ::-1] + 1
a[::-1, 0]
a[:, [0, 2]]
a[..., None]
a[np.array([1, 0])]
a.T
a.reshape(3, 2)
a.T.reshape(-1)
a.ravel()
a.flatten()
a.squeeze()
a.transpose(1, 0) * 2
a.astype(np.float64)
a.astype(np.int32)
a.copy()
a.sum()
a.sum(axis=1)
a.mean(axis=1, keepdims=True)
a.std()
a.var(axis=0)
a.max(axis=1)
a.min()
a.argmax(axis=1)
a.argmin()
a.prod()
a.cumsum(axis=1)
a.clip(0, 2)
a.round()
a.dot(a.T)
a.take([0, 2], axis=1)
a.repeat(2, axis=0)
a.swapaxes(0, 1)
a.trace()
a.diagonal()
a.any()
np.sin(a)
np.tanh(a)
np.exp(a)
np.arctan2(a, 2)
np.hypot(a, a)
np.sqrt(np.abs(a))
np.square(a)
np.cbrt(a)
np.sign(a)
np.floor(a)
np.rint(a)
np.deg2rad(a)
np.degrees(a)
np.reciprocal(a)
np.copysign(a, -1)
np.logaddexp(a, a)
np.maximum(a, 2)
np.minimum(a, np.array([1, 2, 3], dtype=np.float32))
np.maximum.reduce(a)
np.add.reduce(a, axis=1)
np.add.accumulate(a, axis=1)
np.multiply.outer(a[0], a[1])
np.clip(a, -1, 1)
np.where(a > 2, a, 0)
np.select([a > 4, a > 2], [a, a * 10], 0)
np.concatenate([a, a], axis=1)
np.stack([a, a * 2])
np.hstack([a, a])
np.vstack([a, a])
np.column_stack([a, a])
np.append(a, a)
np.tile(a, (2, 1))
np.repeat(a, 2)
np.roll(a, 1, axis=1)
np.flip(a)
np.rot90(a)
np.pad(a, 1)
np.expand_dims(a, 0)
np.squeeze(a)
np.atleast_2d(a[0])
np.broadcast_to(a, (4, 2, 3)) * 1
np.moveaxis(a, 0, 1) + 0
np.split(a, 3, axis=1)[1] * 2
np.sort(a)
np.argsort(a)
np.diff(a)
np.cross(a, a + 1)
np.outer(a[0], a[1])
np.inner(a, a)
np.dot(a, a.T)
np.tensordot(a, a, axes=2)
np.einsum("ij,kj->ik", a, a)
np.kron(a, a)
np.linalg.norm(a)
np.linalg.norm(a, axis=1)
np.linalg.inv(a @ a.T)
np.linalg.det(a @ a.T)
np.linalg.solve(a @ a.T, a)
np.mean(a)
np.median(a)
np.percentile(a, 50)
np.average(a)
np.ptp(a)
np.nanmean(a)
np.nan_to_num(a)
np.isnan(a)
np.isclose(a, a)
np.all(a > -9)
np.triu(a)
np.tril(a)
np.diag(a[0])
np.trace(a)
np.interp(a, [0, 2, 8], [0, 1, 5])
np.unwrap(a * 3)
np.searchsorted(np.array([1.0, 2.0], dtype=np.float32), a)
np.digitize(a, np.array([1.0, 2.0], dtype=np.float32))
np.polyval(np.array([1.0, 2.0, 3.0], dtype=np.float32), a)
np.heaviside(a, 1)
np.array(a)
np.array(a, ndmin=3)
np.astype(a, np.int32)
np.asarray(a, dtype=np.float64)
np.ascontiguousarray(a.T)
np.array([a[0], a[1] * 2])
np.array([a[0, 0], 5.0, a[0, 1]], dtype=np.float32)
np.zeros_like(a) + a
np.empty_like(a) * 0 + a
np.mean([a, a * 2], axis=0)
np.sum((a, -a, a), axis=0)
np.max([a[0], a[1] * 2])
np.maximum.reduce([a, a[::-1], -a])
np.logical_or.reduce([a > 3, a < 2])
np.add([a[0, 0], a[0, 1]], 1)
np.hypot(*a[:, 0])
np.linalg.norm([a[0, 0], a[0, 1]])
np.dot([a[0, 0], a[1, 2]], [1.0, 2.0])
np.concatenate([a[0], [a[0, 0], a[1, 1]], [1.0]])
np.vstack([[a[0], a[1]], [a[1], a[0]]])
np.array([a[0], a[1]]).T @ [a[0, 0], 2.0]
np.vectorize(lambda v: v * 2)(a)
np.apply_along_axis(lambda v: v - v[0], 1, a)
np.apply_along_axis(lambda v: v.sum(), 0, a)
np.diff(a, prepend=0.0)
np.diff(a, n=2, axis=0)
np.cross(a, a + 1, axis=1)
np.trapezoid(a)
np.trapezoid(a, x=[0.0, 0.5, 2.0])
np.nansum(a, axis=1)
np.nanmax(a, axis=0)
np.from_dlpack(torch.from_numpy(a)) * 2
copy.deepcopy(a[0, 0]) * a
a[0, 0][()] * a
np.diff(a, append=a[:, :1])
np.convolve(a[0], [0.25, 0.5, 0.25])
np.convolve(a[0], [0.25, 0.5, 0.25], mode="same")
np.convolve(a[0], [0.25, 0.5], mode="valid")
[row * 2 for row in a][1]
copy.deepcopy(a) * 2
copy.copy(a) * 2
a[:, a[1].argmax()]
np.sqrt(a, where=a > 0, out=np.ones_like(a))
np.modf(a / 2)[1]
np.exp(1j * a).imag
np.asfortranarray(a) * 2
np.array(a.T).ravel(order="K")
a.view(np.ndarray) + 1
np.array([round(v) for v in a[0]])
np.array([a[0, 0].astype(np.float64), 0.1])
np.deg2rad([30, 60, 90])[a[0].argsort()]
round(a[0, 0]) * a
np.delete(a, 1, axis=1)
np.insert(a, 1, a[:, 0], axis=1)
np.insert(a[0], 1, 0.5)
np.compress([True, False, True], a, axis=1)
np.pad(a, 1, mode="edge")
np.r_[a[0, 0], a[1]]
a.ravel("F")
np.sum(a, where=a > 2)
np.max(a, axis=0, initial=3)
a.min(where=a > 2, initial=9)
np.add.reduce(a, where=a > 2, axis=1)
np.cumsum(a > 2)
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression_stays_in_the_model(bench: Workbench, expression: str) -> None:
    code = compile(expression, "<expression>", "eval")
    check(bench, lambda a: eval(code, {"np": np, "a": a, "copy": copy, "torch": torch}))


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


def write_to_what_functions_make(a: np.ndarray) -> np.ndarray:
    tiled, diagonal, joined = np.tile([0.0, 1.0, 2.0], (2, 1)), np.diag([1.0, 2.0, 3.0]), np.tri(2)
    alike, (grid, _) = np.zeros_like([0.0] * 3), np.meshgrid([0.0, 1.0, 2.0], [0.0, 1.0])
    joined = np.concatenate([joined, [[1.0], [2.0]]], axis=1)
    tiled[:] = grid[:] = a > 2
    tiled[np.triu_indices(2, 1)] = a[1, 1]
    diagonal[0] = alike[1:] = joined[:, 1] = a[0, 1]
    return (tiled + grid + joined) @ diagonal * alike * a


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
        write_to_what_functions_make,
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


@pytest.mark.parametrize(
    "compute",
    [
        lambda a: np.convolve(a[0], np.ones(3) / 3),
        lambda a: np.polyval([1, 2, 3], a),
        lambda a: np.average(a, axis=1, weights=[1, 2, 3]),
        lambda a: np.interp([0.1, 0.2], [0, 1, 2], a[0]),
        np.cov,
        lambda a: a[0, 0] * np.float64(0.1),
    ],
)
def test_float64_is_computed_in_float64(
    bench: Workbench, compute: Callable[[np.ndarray], np.ndarray]
) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())})
        annotate.output_tensors("n", {"y": compute(x.numpy())}, export_with="jit")
    bench.compile()
    found = bench.manager()({"n/x": torch.from_numpy(FRESH / 3)})["n/y"]
    np.testing.assert_allclose(found.numpy(), compute(FRESH / 3), rtol=1e-12)


def test_nothing_but_nan_is_nan(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())}).numpy()
        y = np.nanmin(x, axis=1) + np.nanmax(x, axis=1)
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    bench.compile()
    fresh = torch.tensor([[torch.nan, 1.0, 3.0], [torch.nan] * 3])
    found = bench.manager()({"n/x": fresh})["n/y"]
    assert np.array_equal(found.numpy(), [4.0, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    "back",
    [
        torch.from_numpy,
        torch.as_tensor,
        torch.tensor,
        torch.asarray,
        lambda a: torch.tensor(a, dtype=torch.float64),
        lambda a: torch.stack([torch.from_numpy(row) for row in a]),
        lambda a: torch.tensor([list(row) for row in a]),
        lambda a: torch.from_numpy(np.asarray(a)),
        lambda a: torch.from_numpy(a[:, 1:]),
        lambda a: torch.from_numpy(a)[:, a[1].argmax()],
        lambda a: torch.from_numpy(a)[:, [a[1].argmax(), 0]],
        lambda a: torch.from_numpy(np.full(3, torch.from_numpy(a)[0, 0])),
        lambda a: torch.clamp(torch.from_numpy(a), max=a[0, 0]),
    ],
)
def test_back_to_torch(bench: Workbench, back: Callable[[np.ndarray], torch.Tensor]) -> None:
    def compute(x: torch.Tensor) -> torch.Tensor:
        return back(x.numpy() * 2) + 1

    check_tensors(bench, compute)


def test_lists_keep_every_digit(bench: Workbench) -> None:
    def compute(time: torch.Tensor) -> torch.Tensor:
        made = np.array([time.numpy()[0], 1])
        return torch.from_numpy(made) + torch.tensor([time[0], 1]) + torch.tensor([made[0], 2])

    time = torch.tensor([1_763_430_000_123_456_789])
    with bench.trace():
        given = annotate.input_tensors("n", {"time": time})
        sums = annotate.output_tensors("n", {"y": compute(given)}, export_with="jit")
    assert sums.tolist() == compute(time).tolist()
    bench.compile()
    assert bench.manager()({"n/time": time + 1})["n/y"].tolist() == compute(time + 1).tolist()


def test_tensors_in_a_list_stay_traced(bench: Workbench) -> None:
    def compute(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor([x[0, 0], 5.0, x[0, 1]]) * 2

    check_tensors(bench, compute)


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


@pytest.mark.parametrize(
    ("text", "compute"),
    [
        (
            "np.random.default_rng()' drew",
            lambda x: x + torch.from_numpy(np.random.default_rng(3).standard_normal(3)).float(),
        ),
        ("np.random.rand() draws", lambda x: x + torch.from_numpy(np.random.rand(3)).float()),
        ("data-dependent shape", lambda x: x * len(x[x > 0])),
        ("data-dependent shape", lambda x: x * torch.nonzero(x).shape[0]),
    ],
)
def test_what_depends_on_more_than_operators_is_named(
    bench: Workbench, text: str, compute: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        annotate.output_tensors("n", {"y": compute(x)}, export_with="jit")
    warning = next(line for line in bench.log().splitlines() if text in line)
    assert re.search(r"test_api_numpy\.py:\d+", warning)


def test_constructors_take_what_they_always_take(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        a = x.numpy()
        assert np.array(object=[1.0]).tolist() == [1.0]
        assert np.asarray([1, 2], np.float32).dtype == np.float32
        assert np.array(["text", None], dtype=object).tolist() == ["text", None]
        assert np.array([a, a], ndmin=3).shape == (1, 2, 3)
        assert np.asarray(a) is a and np.array(a, copy=False) is a
        assert (np.zeros(3, ">f4") + a).tolist() == [1.0, 1.0, 1.0]
        assert torch.as_tensor([x[0], 2], dtype=torch.float64).dtype == torch.float64
        assert torch.tensor(data=[1.0, 2.0]).tolist() == [1.0, 2.0]
        with pytest.raises(ValueError, match="inhomogeneous"):
            np.array([a, a[:2]])
        with pytest.raises(ValueError, match="avoid copy"):
            np.array(a, np.float64, copy=False)
        with pytest.raises(ValueError, match="only one element tensors"):
            torch.tensor([x, x])
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
