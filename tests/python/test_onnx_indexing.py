"""Picking, placing and moving elements in ONNX; empty tensors, single numbers, negative steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from conftest import Workbench
from onnx_fresh import Case, case, check, distinct, distinct_rows, integers, mask, normal
from torch import Tensor
from torch.nn import functional as F

INF = float("inf")
CASES: dict[str, Case] = {}


def add(name: str, one: Case) -> None:
    assert name not in CASES
    CASES[name] = one


def written(place: Callable[..., Any]) -> Callable[..., Tensor]:
    """Return x with the last argument written at the ``place`` given by the others."""

    def function(x: Tensor, *args: Tensor) -> Tensor:
        y = x.clone()
        y[place(*args[:-1])] = args[-1]
        return y

    return function


x = normal(4, 5, 6)
add("two-places", case(lambda x, a, b: x[a, :, b], x, integers(0, 4, 3), integers(0, 6, 3)))
add("negative-places", case(lambda x, a, b: x[a, b], x, integers(-4, 4, 3, 1), integers(-5, 5, 2)))
add("table-of-places", case(lambda x, a: x[:, a], x, integers(-5, 5, 2, 3)))
add("ellipsis", case(lambda x, a: x[..., a, None], x, integers(-6, 6, 2)))
add("slices-and-places", case(lambda x, a: x[1:3, a, ::2], x, integers(-5, 5, 2)))
add("steps", case(lambda x: x[1::3, :-1:2].flip(-1), normal(7, 6)))
add("masked_fill", case(lambda x, m: x.masked_fill(m, -INF), normal(4, 5), mask(4, 1)))
add("masked_scatter", case(torch.masked_scatter, normal(4, 5), mask(4, 5), normal(4, 5)))
add(
    "write-mask",
    case(written(lambda m: m), normal(4, 5), mask(4, 5), lambda rng: torch.tensor(7.0)),
)
add(
    "write-places",
    case(written(lambda a: (slice(None), a)), normal(4, 5), distinct(3, 5), normal(4, 3)),
)
add(
    "write-step",
    case(written(lambda: (slice(None), slice(1, None, 2))), normal(4, 5), normal(4, 2)),
)
for name, place in {"rows": integers(-4, 4, 6)}.items():
    for values in (normal(6, 5), normal(5)):
        add(
            f"accumulate-{name}-{len(CASES)}",
            case(
                lambda x, a, v: x.index_put((a,), v, accumulate=True), normal(4, 5), place, values
            ),
        )
add(
    "accumulate-elements",
    case(
        lambda x, a, b, v: x.index_put((a, b), v, accumulate=True),
        normal(4, 5),
        integers(-4, 4, 6),
        integers(0, 5, 6),
        normal(6),
    ),
)
add("gather", case(lambda x, a: x.gather(1, a), normal(4, 5), integers(0, 5, 4, 3)))
add("gather-less", case(lambda x, a: x.gather(-2, a), normal(4, 5), integers(0, 4, 2, 3)))
add(
    "scatter",
    case(lambda x, a, v: x.scatter(1, a, v), normal(4, 5), distinct_rows(4, 3, 5), normal(4, 3)),
)
add("scatter-number", case(lambda x, a: x.scatter(1, a, 2.5), normal(4, 5), integers(0, 5, 4, 3)))
add(
    "scatter_add",
    case(lambda x, a, v: x.scatter_add(1, a, v), normal(4, 5), integers(0, 5, 4, 7), normal(4, 7)),
)
for reduction in ("sum", "prod", "mean", "amax", "amin"):
    for inside in (True, False):
        add(
            f"scatter-{reduction}-{inside}",
            case(
                lambda x, a, v, r=reduction, i=inside: x.scatter_reduce(1, a, v, r, include_self=i),
                normal(4, 5),
                integers(0, 5, 4, 7),
                normal(4, 7),
            ),
        )
        add(
            f"scatter-int-{reduction}-{inside}",
            case(
                lambda x, a, v, r=reduction, i=inside: x.scatter_reduce(1, a, v, r, include_self=i),
                integers(-9, 9, 4, 5),
                integers(0, 5, 4, 7),
                integers(-9, 9, 4, 7),
            ),
        )
        if reduction != "sum":
            add(
                f"index-{reduction}-{inside}",
                case(
                    lambda x, a, v, r=reduction, i=inside: x.index_reduce(
                        0, a, v, r, include_self=i
                    ),
                    normal(4, 5),
                    integers(0, 4, 6),
                    normal(6, 5),
                ),
            )
add(
    "index_add",
    case(
        lambda x, a, v: x.index_add(0, a, v, alpha=2), normal(4, 5), integers(0, 4, 6), normal(6, 5)
    ),
)
add(
    "index_copy",
    case(lambda x, a, v: x.index_copy(1, a, v), normal(4, 5), distinct(3, 5), normal(4, 3)),
)
add("index_fill", case(lambda x, a: x.index_fill(1, a, 3.0), normal(4, 5), integers(-5, 5, 3)))
add("take", case(lambda x, a: x.take(a), normal(4, 5), integers(-20, 20, 3, 2)))
add("put", case(lambda x, a, v: x.put(a, v, True), normal(4, 5), integers(-20, 20, 3), normal(3)))
add(
    "nonzero_static",
    case(lambda x: torch.nonzero_static(x > 0, size=9, fill_value=-7), normal(3, 4)),
)
add("as_strided", case(lambda x: x.as_strided((2, 2), (1, 2), 1), normal(4, 4)))
add("as_strided_copy", case(lambda x: torch.as_strided_copy(x, (2, 3), (1, 2), 1), normal(4, 4)))
add(
    "unfold_backward",
    case(lambda x: torch.ops.aten.unfold_backward(x, [4, 6], 1, 3, 2), normal(4, 2, 3)),
)
add(
    "unfold_backward-first",
    case(lambda x: torch.ops.aten.unfold_backward(x, [7, 2, 3], 0, 3, 2), normal(3, 2, 3, 3)),
)
add("searchsorted", case(lambda x: torch.searchsorted(x.sort(1)[0], x, right=True), normal(4, 5)))
add("isin", case(lambda x: torch.isin(x, torch.tensor([1, 3])), integers(0, 5, 4, 4)))

MOVES: dict[str, Callable[[Tensor], Any]] = {
    "diagonal": lambda x: (x.diag(1), x.diagonal(-1), x.trace(), torch.diag_embed(x, 1)),
    "triangles": lambda x: (x.tril(), x.triu(-1)),
    "rot90": lambda x: (torch.rot90(x), torch.rot90(x, -1)),
    "roll": lambda x: (x.roll((1, -2), (0, 1)), x.roll(5)),
    "unfold": lambda x: (x.unfold(1, 3, 2), x.unfold(-2, 2, 1)),
    "repeats": lambda x: (x.repeat_interleave(2, 1), x.repeat_interleave(3), x.tile(2, 1, 2)),
    "splits": lambda x: (*x.chunk(3, 1), *x.split([1, 3], 1), *x.tensor_split(3, 0), *x.unbind(1)),
    "products": lambda x: (torch.cartesian_prod(x[0], x[1]), torch.kron(x, x[:2])),
    "scatters": lambda x: (
        torch.diagonal_scatter(x, torch.ones(4)),
        x.select_scatter(torch.ones(4), 0, 1),
        x.slice_scatter(torch.ones(2, 4), 0, 1, 3),
    ),
    "differences": lambda x: (x.diff(n=2, dim=0), *torch.gradient(x), torch.trapezoid(x, dx=0.5)),
    "negative-dims": lambda x: (x[None].softmax(-2), x[None].mean((-1, 0)), x[None].amax((0, -1))),
}
for name, function in MOVES.items():
    add(name, case(function, normal(4, 4)))

EMPTY: dict[str, Callable[[Tensor], Any]] = {
    "sum": lambda x: (x.sum(0), x.prod(0), x.mean(0), x.std(0), x.norm()),
    "cat": lambda x: torch.cat([x, torch.ones(2, 4)]),
    "product": lambda x: (x @ torch.ones(4, 3), x.t() @ x, F.linear(x, torch.ones(3, 4))),
    "softmax": lambda x: (x.softmax(-1), x.cumsum(0), x.logsumexp(0), F.layer_norm(x, (4,))),
    "truth": lambda x: ((x > 0).any(0), (x > 0).all()),
    "sort": lambda x: (*x.sort(0), x.argsort(1)),
    "shapes": lambda x: (torch.stack([x, x]), x.repeat(2, 3), x[:, None].expand(0, 5, 4)),
    "pad": lambda x: F.pad(x, (1, 1, 2, 0)),
    "places": lambda x: (x.gather(0, torch.zeros(0, 4, dtype=torch.long)), x.unfold(1, 2, 1)),
}
for name, function in EMPTY.items():
    add(f"empty-{name}", case(lambda x, f=function: f(x[2:2]), normal(4, 4)))

SINGLE: dict[str, Callable[[Tensor], Any]] = {
    "arithmetic": lambda x: (x * 2 + 1, (x > 0) & (x < 1), x.norm(), x.var(unbiased=False)),
    "order": lambda x: (*x.sort(), *x.max(0), x.argmax(), *x.topk(1)),
    "running": lambda x: (x.softmax(0), x.cumsum(0), x.sum(-1)),
    "shapes": lambda x: (x.expand(3, 2), torch.stack([x, x * 2]), torch.atleast_2d(x)),
    "places": lambda x: (
        x.gather(0, torch.tensor(0)),
        x.index_select(0, torch.tensor([0])),
        x.take(torch.tensor([0, 0])),
        x.scatter(0, torch.tensor(0), 3.0),
    ),
}
for name, function in SINGLE.items():
    add(f"single-{name}", case(function, lambda rng: torch.randn((), generator=rng)))


@pytest.mark.parametrize("name", CASES)
def test_indexing(name: str, bench: Workbench) -> None:
    check(bench, CASES[name])
