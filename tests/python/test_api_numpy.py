"""NumPy on traced values: computations stay in the model; others are reported."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from conftest import Workbench
from numpy_check import FRESH, TRACED, check

from leapp import annotate

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
np.hypot(*a[:, 0])
np.linalg.norm([a[0, 0], a[0, 1]])
np.dot([a[0, 0], a[1, 2]], [1.0, 2.0])
np.concatenate([a[0], [a[0, 0], a[1, 1]], [1.0]])
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
    ("text", "compute"),
    [
        ("data-dependent shape", lambda x: x * len(x[x > 0])),
        ("data-dependent shape", lambda x: x * torch.nonzero(x).shape[0]),
    ],
)
def test_calls_without_an_equivalent_are_named(
    bench: Workbench, text: str, compute: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        annotate.output_tensors("n", {"y": compute(x)}, export_with="jit")
    warning = next(line for line in bench.log().splitlines() if text in line)
    assert re.search(r"test_api_numpy\.py:\d+", warning)
