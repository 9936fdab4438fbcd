"""C++ models: each family of operators, compared with ATen; errors at run time; the text itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from conftest import Workbench
from cpp_model import WARNINGS, CppModel

import leapp
from leapp import annotate

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")

Tensors = Sequence[torch.Tensor]
Function = Callable[..., Tensors]


def _export(function: Function, inputs: Tensors, folder: Path, **options: Any) -> Path:
    """Trace one node of the function; return its source."""
    leapp.start("g", save_path=str(folder), noise="frozen")  # some weights are drawn in the node
    names = [f"x{i}" for i in range(len(inputs))]
    given = {name: x.clone() for name, x in zip(names, inputs, strict=True)}
    traced = annotate.input_tensors("op", given)
    outputs = function(*(traced if len(inputs) > 1 else [traced]))
    named = {f"y{i}": y for i, y in enumerate(outputs)}
    annotate.output_tensors("op", named, export_with="cpp", **options)
    leapp.stop()
    leapp.compile_graph(visualize=False, validate=False)
    return folder / "g" / "op.cpp"


def _check(
    function: Function, folder: Path, *samples: Tensors, tolerance: float = 1e-5
) -> CppModel:
    """Export for the first sample, compile without a warning, and compare on all samples."""
    with torch.no_grad():
        source = _export(function, samples[0], folder)
        model = CppModel(source, "op", ("-O1", *WARNINGS))
        for sample in samples:
            found = model({f"x{i}": x for i, x in enumerate(sample)})
            for y, expected in zip(found, function(*sample), strict=True):
                torch.testing.assert_close(
                    y,
                    expected,
                    rtol=tolerance,
                    atol=tolerance,
                    equal_nan=True,
                )
    return model


def _floats(*shapes: tuple[int, ...]) -> list[list[torch.Tensor]]:
    """Return two samples of tensors of these shapes."""
    torch.manual_seed(0)
    return [[torch.randn(shape) for shape in shapes] for _ in range(2)]


def _integers(
    *shapes: tuple[int, ...], dtype: torch.dtype = torch.int64
) -> list[list[torch.Tensor]]:
    torch.manual_seed(0)
    return [[torch.randint(1, 9, shape, dtype=dtype) for shape in shapes] for _ in range(2)]


def _activations(x: torch.Tensor) -> Tensors:
    names = """relu sigmoid tanh elu celu selu silu mish gelu softplus logsigmoid hardswish
    hardsigmoid hardtanh leaky_relu relu6 softshrink hardshrink"""
    return [getattr(F, name)(x) for name in names.split()] + [F.gelu(x, approximate="tanh")]


def _functions(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    positive = x.abs() + 0.1
    of_one = """abs neg exp expm1 sin cos tan atan sinh cosh asinh floor ceil trunc round sign erf
    square frac"""
    of_positive = "log log2 log10 log1p sqrt rsqrt reciprocal lgamma"
    return [
        *(getattr(torch, name)(x) for name in of_one.split()),
        *(getattr(torch, name)(positive) for name in of_positive.split()),
        torch.atan2(x, y),
        torch.hypot(x, y),
        torch.maximum(x, y),
        torch.minimum(x, y),
        torch.fmod(x, y),
        torch.remainder(x, y),
        torch.floor_divide(x, y),
        torch.div(x, y, rounding_mode="trunc"),
        torch.pow(positive, y),
        torch.lerp(x, y, 0.3),
        torch.addcmul(x, x, y, value=0.5),
        torch.clamp(x, y - 1, y.abs()),
        torch.where(x > y, x, 2 * y),
        torch.nan_to_num(x / 0),
        torch.logaddexp(x, y),
        torch.isfinite(x / 0),
    ]


def _integer_functions(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    return [
        x + y,
        x - 3 * y,
        x * y,
        x // y,
        -x // y,
        x % y,
        torch.fmod(-x, y),
        x / y,
        x & y,
        x | y,
        x ^ y,
        ~x,
        x << 2,
        x >> 1,
        x**2,
        torch.gcd(x, y),
        x == y,
        x < y,
        (x > 3) & (y > 3),
        x.to(torch.float64) * 0.1,
        x.to(torch.uint8) + 250,
        x.to(torch.int8) * 100,
        x.float().sqrt().to(torch.int32),
        x.bool() ^ (y > 4),
        x.sum(),
        x.cumsum(0),
        x.max(1).values,
    ]


def _views(x: torch.Tensor) -> Tensors:
    return [
        x.permute(2, 0, 1) + 1,
        x.transpose(0, 1).reshape(-1),
        x[:, 1:, ::2] * 2,
        x[0, :, -1],
        x.flip(0, 2),
        x.roll(1, 1),
        x.roll((1, -2), (0, 2)),
        x.unsqueeze(1).expand(2, 5, 3, 4),
        x.repeat(2, 1, 3),
        x.repeat_interleave(2, dim=1),
        torch.cat([x, x * 2], 1),
        torch.stack([x, -x], -1),
        torch.cat(torch.split(x, 1, 1), 2),
        x.unfold(2, 2, 1),
        x.diagonal(0, 1, 2),
        x.tril(),
        x.triu(1),
        torch.diag_embed(x[0, 0]),
        F.pad(x, (1, 2, 0, 1)),
        F.pad(x, (1, 1), mode="reflect"),
        F.pad(x, (2, 1), mode="replicate"),
        F.pad(x, (1, 1), mode="circular"),
        F.pad(x, (-1, 1), value=3.0),
    ]


def _reductions(x: torch.Tensor) -> Tensors:
    return [
        x.sum(),
        x.sum((0, 2)),
        x.mean(1, keepdim=True),
        x.prod(2),
        x.amax((1, 2)),
        x.min(),
        *x.max(1),
        *x.min(2, keepdim=True),
        x.argmax(),
        x.argmin(1),
        x.std(1),
        x.var((0, 1), correction=0),
        *torch.var_mean(x, 2),
        x.norm(dim=1),
        torch.linalg.vector_norm(x, 1, dim=(0, 1)),
        torch.linalg.vector_norm(x, float("inf")),
        x.logsumexp(2),
        x.softmax(1),
        x.log_softmax(-1),
        (x > 0).any(1),
        (x > 0).all(),
        (x > 0).sum(2),
        torch.count_nonzero(x > 0, dim=0),
        x.cumsum(1),
        x.cumprod(2),
        *x.cummax(1),
        x.logcumsumexp(0),
        *x.sort(1, descending=True),
        x.argsort(2),
        *x.topk(2, 2),
        *x.kthvalue(2, 1),
        *x.median(2),
        torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0]), x),
        torch.isin(x.round(), torch.tensor([0.0, 1.0])),
        torch.special.erfinv(x.tanh()),
        torch.special.digamma(x),
    ]


def _indexing(x: torch.Tensor, i: torch.Tensor) -> Tensors:
    row = i[0]
    return [
        x.gather(1, i),
        x[row],
        x[:, row],
        x[i, 2],
        x[row, row],
        x.index_select(1, row),
        x.take(i),
        F.embedding(i, x),
        x.scatter(1, i, x * 2),
        x.scatter_add(1, i, x),
        x.scatter_reduce(1, i, x, "amax"),
        x.index_add(0, row, x[row]),
        x.index_copy(1, torch.tensor([0, 2]), x[:, :2]),
        x.index_fill(0, torch.tensor([1]), 7.0),
        x.index_put((row, row), torch.tensor(5.0)),
        torch.slice_scatter(x, x[:, :2] * 3, 1, 1, 3),
        torch.select_scatter(x, x[0], 0, 2),
    ]


def _products(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    weight = torch.linspace(-1, 1, 12).reshape(3, 4)
    return [
        x @ y,
        x[0] @ y[1],
        x[0, 0] @ y[0],
        x @ y[0, :, 0],
        x @ weight.t(),
        F.linear(x, weight, torch.ones(3)),
        torch.tanh(F.linear(x, weight)) * 2 + 1,
        torch.baddbmm(torch.ones(3), x, y, alpha=0.5),
        torch.outer(x[0, 0], y[0, 0]),
        torch.einsum("bij,bjk->ik", x, y),
        torch.addmm(y[0, :3], x[0], y[0], beta=2) if y.shape[1] == y.shape[2] else x[0] @ y[0],
    ]


def _layers(x: torch.Tensor) -> Tensors:
    torch.manual_seed(1)
    channels = torch.randn(4)
    image = x.reshape(2, 4, 3, 5)
    return [
        F.layer_norm(x, (15,), torch.linspace(0, 1, 15), torch.ones(15)),
        F.group_norm(x, 2, channels, channels),
        F.rms_norm(x, (15,)),
        F.batch_norm(x, channels, channels.abs() + 1, channels, channels),
        F.conv1d(x, torch.randn(6, 4, 3), torch.randn(6), stride=2, padding=1),
        F.conv1d(x, torch.randn(4, 1, 3), groups=4, dilation=2),
        F.conv2d(image, torch.randn(2, 4, 2, 3), padding=(1, 0)),
        F.conv2d(image, torch.randn(4, 2, 3, 3), padding=1, groups=2),
        F.conv_transpose1d(x, torch.randn(4, 2, 3), stride=2, padding=1),
        F.conv_transpose2d(image, torch.randn(4, 3, 2, 2), torch.randn(3)),
        *F.max_pool1d(x, 3, padding=1, return_indices=True),
        *F.max_pool2d(image, 2, stride=1, padding=1, return_indices=True),
        F.interpolate(image, scale_factor=2),
        F.interpolate(image, size=(5, 7), mode="bilinear"),
        F.pixel_shuffle(image, 2),
        F.mse_loss(x, x * 0.5),
        torch.cdist(x, x + 1),
        F.avg_pool2d(image, 2, padding=1, count_include_pad=False),
        F.avg_pool1d(x, 4, stride=3, ceil_mode=True),
        F.adaptive_avg_pool1d(x, 4),
    ]


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Tensors:
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    return [
        F.scaled_dot_product_attention(q, k, v),
        F.scaled_dot_product_attention(q, k, v, is_causal=True),
        F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
    ]


def _matrices(x: torch.Tensor) -> Tensors:
    spd = x @ x.mT + 2 * torch.eye(4)
    right = x[..., :2]
    lower = torch.linalg.cholesky(spd)
    return [
        torch.linalg.inv(spd),
        torch.linalg.solve(spd, right),
        torch.linalg.det(x),
        *torch.linalg.slogdet(spd),
        lower,
        torch.linalg.cholesky(spd, upper=True),
        torch.linalg.solve_triangular(lower, right, upper=False),
        torch.linalg.qr(x)[0],
        torch.linalg.qr(right)[1],
        torch.linalg.cross(x[..., :3], x[..., 1:]),
        x.diagonal(dim1=-2, dim2=-1).sum(-1),
    ]


@pytest.mark.parametrize(
    ("function", "samples"),
    [
        pytest.param(_activations, _floats((2, 7)), id="activations"),
        pytest.param(_functions, _floats((3, 4), (4,)), id="functions"),
        pytest.param(
            _functions, [[x.double() for x in s] for s in _floats((3, 1), (1, 4))], id="double"
        ),
        pytest.param(_integer_functions, _integers((3, 4), (3, 4)), id="integers"),
        pytest.param(_views, _floats((2, 3, 4)), id="views"),
        pytest.param(_reductions, _floats((2, 3, 4)), id="reductions"),
        pytest.param(_products, _floats((2, 3, 4), (2, 4, 3)), id="products"),
        pytest.param(_layers, _floats((2, 4, 15)), id="layers"),
        pytest.param(_attention, _floats((1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4)), id="attention"),
        pytest.param(_matrices, _floats((2, 4, 4)), id="matrices"),
    ],
)
def test_family_matches_aten(function: Function, samples: list[Tensors], bench: Workbench) -> None:
    _check(function, bench.folder, *samples, tolerance=1e-4)


def test_indexing_matches_aten(bench: Workbench) -> None:
    samples = [[x, i % 4] for (x,), (i,) in zip(_floats((4, 4)), _integers((4, 4)), strict=True)]
    _check(_indexing, bench.folder, *samples)


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
def test_recurrent_layers_match(kind: str, bench: Workbench) -> None:
    torch.manual_seed(0)
    layers = getattr(torch.nn, kind)(5, 6, num_layers=2, bidirectional=True, batch_first=True)
    cell = getattr(torch.nn, f"{kind}Cell")(5, 6)

    def run(x: torch.Tensor) -> Tensors:
        y, state = layers(x)
        one = cell(x[:, 0])
        states = [*state] if kind == "LSTM" else [state]
        return [y, *states, *(one if kind == "LSTM" else [one])]

    _check(run, bench.folder, *_floats((2, 3, 5)))


@pytest.mark.parametrize(
    ("function", "good", "bad", "said"),
    [
        (lambda a, b: [a // b], [8, 2], [8, 0], "division by zero"),
        (lambda a, b: [torch.arange(4)[a] + b], [3, 0], [4, 0], "out of range"),
        (lambda a, b: [b[a]], [0, 5], [1, 5], "out of range"),
        (lambda a, b: [b.expand(3)[a]], [2, 5], [3, 5], "out of range"),
        (lambda a, b: [b.scatter(0, a, 7)], [0, 5], [1, 5], "out of range"),
        (lambda a, b: [b[0].gather(0, a[0])], [0, 5], [1, 5], "out of range"),
        (
            lambda a, b: [torch.linalg.cholesky(torch.eye(2) * a[:1]) + b],
            [1, 0],
            [-1, 0],
            "positive definite",
        ),
    ],
    ids=["division", "index", "of one", "of one repeated", "written", "of none", "cholesky"],
)
def test_values_that_pytorch_refuses_fail_the_run(
    function: Function, good: list[int], bad: list[int], said: str, bench: Workbench
) -> None:
    samples = [[torch.tensor([number]) for number in numbers] for numbers in (good, bad)]
    model = _check(function, bench.folder, samples[0])
    with pytest.raises(RuntimeError, match=rf"test_cpp\.py:\d+.*{said}"):
        model({f"x{i}": x for i, x in enumerate(samples[1])})


#: Functions of an integer tensor and a number. PyTorch refuses some numbers for some types.
_WITH_NUMBER: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "add": lambda x, n: x + n,
    "subtract": lambda x, n: x - n,
    "subtract from": lambda x, n: n - x,
    "multiply": lambda x, n: x * n,
    "floor divide": lambda x, n: x // n,
    "remainder": lambda x, n: x % n,
    "fmod": lambda x, n: x.fmod(n),
    "add alpha": lambda x, n: torch.add(x, x, alpha=n),
    "equal": lambda x, n: x == n,
    "less": lambda x, n: x < n,
    "less equal": lambda x, n: x <= n,
    "greater": lambda x, n: x > n,
    "greater equal": lambda x, n: x >= n,
    "clamp min": lambda x, n: x.clamp(min=n),
    "clamp max": lambda x, n: x.clamp(max=n),
    "maximum": lambda x, n: torch.maximum(x, torch.tensor(n)),
    "fill": torch.full_like,
    "masked fill": lambda x, n: x.masked_fill(x > 2, n),
    "where": lambda x, n: torch.where(x > 2, x, n),
    "index fill": lambda x, n: x.index_fill(0, torch.tensor([0]), n),
    "scatter": lambda x, n: x.scatter(0, torch.tensor([1]), n),
    "pad": lambda x, n: F.pad(x, (1, 1), value=n),
    "threshold": lambda x, n: F.threshold(x, 2, n),
    "power": lambda x, n: x**n,
    "power of": lambda x, n: torch.pow(n, x),
    "and": lambda x, n: x & n,
    "or": lambda x, n: x | n,
    "xor": lambda x, n: x ^ n,
    "addcmul": lambda x, n: torch.addcmul(x, x, x, value=n),
    "is close": lambda x, n: torch.isclose(x, x + 1, atol=abs(n)),
}
_INTEGER_TYPES = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


@pytest.mark.parametrize("dtype", _INTEGER_TYPES, ids=str)
def test_a_number_outside_of_the_integer_type_converts_as_in_pytorch(
    dtype: torch.dtype, bench: Workbench
) -> None:
    bits = 8 * torch.empty(0, dtype=dtype).element_size()
    exponent = min(bits, 63)
    numbers = [-1, -5, 2 ** (exponent - 1), 2**exponent - 1, -(2 ** (exponent - 1)) - 3, 2**63 - 1]
    numbers += [2**bits + 3] if bits < 64 else [-(2**63)]
    x = torch.tensor([0, 1, 2, 5, 127], dtype=dtype)
    cases = []
    for name, function in _WITH_NUMBER.items():
        for number in numbers:
            try:
                function(x, number)
            except RuntimeError:
                continue  # PyTorch refuses the number, so it cannot be traced
            cases.append((name, number))
    assert {name for name, _ in cases} >= {"add", "equal", "multiply", "and"}

    def run(x: torch.Tensor) -> Tensors:
        return [_WITH_NUMBER[name](x, number) for name, number in cases]

    _check(run, bench.folder, [x], [x.flip(0)], tolerance=0)
