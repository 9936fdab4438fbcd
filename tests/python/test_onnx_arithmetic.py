"""Arithmetic in ONNX equals PyTorch's: signs, rounding, NaN, overflow, promotion."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
from conftest import Workbench
from onnx_fresh import case, check, check_on, export, integers, normal
from torch import Tensor

from leapp import annotate

INF, NAN = float("inf"), float("nan")

FLOATS = [
    -INF, -7.3, -3.0, -2.5, -2.0, -1.5, -1.0, -0.5, -1e-3, -0.0,
    0.0, 1e-3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.3, INF, NAN,
]  # fmt: skip
SAMPLES: dict[torch.dtype, list[Any]] = {
    torch.float32: [*FLOATS, 1e10, -1e10],
    torch.float64: [*FLOATS, 1e10, -1e10],
    torch.float16: FLOATS,
    torch.bfloat16: FLOATS,
    torch.int64: [-(2**62), -300, -128, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 127, 255, 2**62],
    torch.int32: [-(2**31) + 1, -300, -128, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 255, 2**31 - 1],
    torch.int16: [-(2**15) + 1, -128, -7, -3, -2, -1, 0, 1, 2, 3, 7, 127, 255, 2**15 - 1],
    torch.int8: [-127, -7, -3, -2, -1, 0, 1, 2, 3, 7, 127],
    torch.uint8: [0, 1, 2, 3, 7, 127, 128, 200, 255],
    torch.bool: [False, True],
}
PAIRS = [
    *((dtype, dtype) for dtype in SAMPLES),
    (torch.float32, torch.int64),
    (torch.int64, torch.float32),
    (torch.int32, torch.int64),
    (torch.uint8, torch.int8),
    (torch.bool, torch.int64),
    (torch.float16, torch.float32),
    (torch.float32, torch.float64),
    (torch.float16, torch.bfloat16),
]
BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "floor_divide": torch.floor_divide,
    "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "fmax": torch.fmax,
    "fmin": torch.fmin,
    "eq": torch.eq,
    "lt": torch.lt,
    "ge": torch.ge,
    "atan2": torch.atan2,
    "copysign": torch.copysign,
    "hypot": torch.hypot,
    "logical_xor": torch.logical_xor,
    "where": lambda a, b: torch.where(a > b, a, b),
    "clamp": lambda a, b: torch.clamp(a, b, b + 1),
    "heaviside": torch.heaviside,
    "xlogy": torch.xlogy,
    "logaddexp": torch.logaddexp,
    "pow": torch.pow,
    "bitwise_and": torch.bitwise_and,
    "bitwise_xor": torch.bitwise_xor,
    "left_shift": torch.bitwise_left_shift,
    "right_shift": torch.bitwise_right_shift,
    "lerp": lambda a, b: torch.lerp(a, b, 0.3),
}


def pairs_of(name: str, a: torch.dtype, b: torch.dtype) -> tuple[Tensor, Tensor]:
    """Every pair of values that the operator is defined for."""
    table = list(itertools.product(SAMPLES[a], SAMPLES[b]))
    x = torch.tensor([pair[0] for pair in table], dtype=a)
    y = torch.tensor([pair[1] for pair in table], dtype=b)
    if a.is_floating_point or b.is_floating_point:
        return x, y
    keep = torch.ones(len(table), dtype=torch.bool)
    if name in ("div", "floor_divide", "div_trunc", "div_floor", "remainder", "fmod"):
        keep = y != 0
    if name in ("left_shift", "right_shift", "pow"):
        keep = (y >= 0) & (y < 7)
    return x[keep], y[keep]


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, bench: Workbench) -> None:
    """Traced on ones; compared on every pair of special values, for every pair of types."""
    function = BINARY[name]
    tried = 0
    for a, b in PAIRS:
        x, y = pairs_of(name, a, b)
        try:
            function(x, y)
        except (RuntimeError, NotImplementedError):
            continue  # PyTorch itself has no such operator
        check_on(bench, function, [torch.ones_like(x), torch.ones_like(y)], [[x, y]])
        tried += 1
    assert tried >= 3


NUMBERS: dict[str, Callable[[Tensor], Any]] = {
    "add_int": lambda x: x + 100,
    "mul_float": lambda x: x * 1.5,
    "rsub": lambda x: 5 - x,
    "div_int": lambda x: x / 3,
    "floor_divide": lambda x: x // 3,
    "remainder": lambda x: x % 7,
    "remainder_negative": lambda x: x % -7,
    "square": lambda x: x**2,
    "clamp_int": lambda x: x.clamp(3, 90),
    "clamp_float": lambda x: x.clamp(3.5, 90.2),
    "where_int": lambda x: torch.where(x > 100, x, 0),
    "where_float": lambda x: torch.where(x > 100, x, 0.5),
    "less_float": lambda x: x < 100.5,
    "zero_dim": lambda x: x > torch.tensor(3.5),
    "wraps": lambda x: x * x + x,
    "negates": lambda x: -x,
    "sum": lambda x: (x.sum(), x.sum(0, dtype=x.dtype)),
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(0),
    "product": lambda x: x.view(4, 5) @ x.view(5, 4),
    "cat": lambda x: torch.cat([x, torch.ones(3)]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str, bench: Workbench) -> None:
    """Python numbers with tensors of every type, and integers that wrap around."""
    for dtype in SAMPLES:
        if dtype == torch.bool:
            continue
        check(bench, case(NUMBERS[name], integers(0, 200, 20, dtype=dtype)))


def special(rng: torch.Generator, dtype: torch.dtype) -> Tensor:
    rows = torch.tensor(
        [[NAN, 1.0, -INF, 2.5], [INF, -0.0, 3.5, NAN], [0.5, 1.5, -1.5, -2.5]], dtype=dtype
    )
    return rows[torch.randperm(3, generator=rng)]


UNARY: dict[str, Callable[[Tensor], Any]] = {
    "round": torch.round,
    "round_decimals": lambda x: (torch.round(x, decimals=2), torch.round(x * 10, decimals=-1)),
    "trunc": torch.trunc,
    "floor": torch.floor,
    "frac": torch.frac,
    "sign": torch.sign,
    "clamp": lambda x: x.clamp(-1, 1),
    "clamp_min": lambda x: x.clamp(min=0),
    "clamp_max": lambda x: x.clamp(max=0.3),
    "clamp_nan": lambda x: x.clamp(NAN, 1),
    "clamp_crossed": lambda x: x.clamp(2, -2),
    "relu": torch.relu,
    "amax": lambda x: (x.amax(1), x.amin(0, keepdim=True)),
    "max": lambda x: (*x.max(1), *x.min(0)),
    "arg": lambda x: (x.argmax(1), x.argmin()),
    "nansum": lambda x: (x.nansum(1), x.nanmean(0)),
    "cummax": lambda x: (*torch.cummax(x, 1), *torch.cummin(x, 0)),
    "logcumsumexp": lambda x: torch.logcumsumexp(x, 1),
    "sort": lambda x: (*x.sort(1), x.sort(1, descending=True)[0]),
    "median": lambda x: (x.median(1)[0], x.nanmedian(1)[0], x.kthvalue(2, 1)[0]),
    "topk": lambda x: (x.topk(2)[0], x.topk(2, largest=False)[0]),
    "softmax": lambda x: (x.softmax(1), x.log_softmax(1), x.logsumexp(1)),
    "all_masked": lambda x: x.masked_fill(x > -5, -INF).softmax(1),
    "norm": lambda x: (x.norm(dim=1), x.std(1), x.var(0, unbiased=False)),
    "is": lambda x: (x.isnan(), x.isinf(), x.isfinite(), x.isneginf()),
    "nan_to_num": lambda x: (torch.nan_to_num(x), torch.nan_to_num(x, 1.0, 2.0, 3.0)),
    "bool": lambda x: (x.bool(), x.any(1), x.all(0), x.count_nonzero(1)),
    "logs": lambda x: (x.log(), x.log2(), x.log1p(), x.expm1(), x.exp2()),
    "roots": lambda x: (x.sqrt(), x.rsqrt(), x.reciprocal()),
    "arcs": lambda x: (x.atan(), x.asin(), x.acos(), x.asinh(), x.acosh(), x.atanh()),
    "hyperbolic": lambda x: (x.sinh(), x.cosh(), x.tanh(), x.sigmoid()),
    "errors": lambda x: (x.erf(), x.erfc()),
    "powers": lambda x: (x**2, x**-1, x**3.3, 2**x),
    "remainders": lambda x: (torch.fmod(x, 1.5), x % -1.5, x // 1.5),
    "ldexp": lambda x: torch.ldexp(x, torch.tensor([-300, 0, 3, 300])),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_special_values(name: str, bench: Workbench) -> None:
    """Half precision, signed zeros, infinities and NaN in every floating point type."""
    if name == "ldexp" and torch.ldexp(torch.tensor(INF), torch.tensor(-300)).isnan():
        pytest.skip("this PyTorch multiplies by a power that is already zero")
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        check(bench, case(UNARY[name], lambda rng, dtype=dtype: special(rng, dtype)))


CASTS = [-300.7, -128.5, -3.9, -1.0, -0.5, 0.0, 0.5, 2.7, 127.4, 200.9, 255.5, 300.0]


@pytest.mark.parametrize("target", SAMPLES, ids=str)
def test_casts(target: torch.dtype, bench: Workbench) -> None:
    """Casts from every type to every other: truncation towards zero, wrapping, bool."""
    for source in SAMPLES:
        x = torch.tensor(CASTS).to(torch.int64).to(source)
        if source.is_floating_point:
            x = torch.tensor(CASTS).to(source)
            if target == torch.uint8:
                x = x.abs().clamp(
                    max=255
                )  # for larger values, PyTorch's result depends on the processor
            if target in (torch.int8, torch.bool):
                x = x.clamp(-128, 127)
        check_on(bench, lambda x: x.to(target), [torch.ones_like(x)], [[x]])


def test_double_precision_is_kept(bench: Workbench) -> None:
    """Functions that ONNX Runtime has in single precision only are still exact in double."""

    def functions(x: Tensor) -> list[Tensor]:
        inside = torch.sin(x)
        return [
            x.atan(), inside.asin(), inside.acos(), x.sinh(), x.cosh(), x.asinh(),
            (x.abs() + 1).acosh(), inside.atanh(), inside.erf(), x.erf(), x.erfc(),
            torch.atan2(x, inside), torch.nn.functional.gelu(inside),
        ]  # fmt: skip

    export(bench, functions, [torch.randn(64, dtype=torch.float64)])
    manager = bench.manager()
    fresh = torch.randn(64, dtype=torch.float64) * 20
    outputs = manager.run_policy({"n/i0": fresh})
    for n, expected in enumerate(functions(fresh)):
        torch.testing.assert_close(outputs[f"n/o{n}"], expected, rtol=1e-13, atol=1e-14)


def test_normal_numbers_are_exact_in_single_precision(bench: Workbench) -> None:
    check(bench, case(lambda x, y: (x * y + x, x / y, x - y), normal(1000), normal(1000)))


class TestIntegersThatCannotBeDivided:
    """As in PyTorch: an error of the tick, or PyTorch's value; never a signal."""

    OPERATIONS: ClassVar[dict[str, Any]] = {
        "floor": lambda a, b: a // b,
        "trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
        "remainder": lambda a, b: a % b,
        "fmod": torch.fmod,
    }

    @pytest.fixture(params=OPERATIONS)
    def name(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
    def test_by_zero_and_by_minus_one(self, bench: Workbench, name: str, dtype: Any) -> None:
        with bench.trace():
            given = {
                "a": torch.tensor([7, -7], dtype=dtype),
                "b": torch.tensor([2, 3], dtype=dtype),
            }
            a, b = annotate.input_tensors("n", given)
            annotate.output_tensors("n", {"y": self.OPERATIONS[name](a, b)}, export_with="onnx")
        assert bench.compile()
        manager = bench.manager()

        def run(a: list[int], b: list[int]) -> list[int]:
            inputs = {"n/a": torch.tensor(a, dtype=dtype), "n/b": torch.tensor(b, dtype=dtype)}
            result: list[int] = manager(inputs)["n/y"].tolist()
            return result

        least = torch.iinfo(dtype).min
        with pytest.raises(ValueError, match="node 'n' failed"):
            run([7, -7], [2, 0])
        assert run([least, 5], [-1, -1]) == ([least, -5] if name in ("floor", "trunc") else [0, 0])
        assert (
            run([least, -7], [1, 2])
            == {
                "floor": [least, -4],
                "trunc": [least, -3],
                "remainder": [0, 1],
                "fmod": [0, -1],
            }[name]
        )
