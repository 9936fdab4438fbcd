"""A fixed part of PyTorch's operator database; `make opinfo` runs all of it."""

from __future__ import annotations

import shutil
from typing import Any

import opinfo
import pytest
import torch
from opinfo_expected import EXPECTED

#: Every twelfth operator by name, and those with which other exporters have problems.
HARD = """H __getitem__ __rmatmul__ __rpow__ bool bfloat16 cummax cumprod copysign einsum fmin
    gather grid_sampler_2d index_put index_reduce.amax kthvalue linalg.inv linalg.norm mT median
    meshgrid.variadic_tensors mode nn.functional.embedding_bag nn.functional.interpolate.bilinear
    nn.functional.multi_head_attention_forward nn.functional.scaled_dot_product_attention
    nn.functional.triplet_margin_loss nonzero scatter_reduce.amax searchsorted slice split
    tensor_split topk unique where""".split()


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    return opinfo.operators()


def chosen() -> list[str]:
    names = sorted(opinfo.operators())
    return sorted({*names[::12], *(name for name in HARD if name in names)} - opinfo.RANDOM)


@pytest.mark.parametrize("name", chosen())
def test_operator(table: dict[str, Any], name: str, backend: str) -> None:
    verdict = opinfo.check_operator(table[name], backend, samples=2)
    if verdict.status == "skip":
        pytest.skip(verdict.message)
    if name in EXPECTED[backend]:
        assert verdict.status != "wrong", verdict.message
        return
    assert verdict.status == "pass", verdict.message


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
@pytest.mark.parametrize("name", chosen()[::4])
def test_operator_as_cpp(table: dict[str, Any], name: str) -> None:
    verdict = opinfo.check_operator(table[name], "cpp", samples=1)
    if verdict.status == "skip":
        pytest.skip(verdict.message)
    allowed = ("pass", "error") if name in EXPECTED["cpp"] else ("pass",)
    assert verdict.status in allowed, verdict.message


@pytest.mark.skipif(
    torch.__version__ < "2.13", reason="operators that came later are listed as well"
)
def test_no_exception_is_listed_that_does_not_exist() -> None:
    for backend in ("jit", "onnx", "cpp"):
        assert not set(EXPECTED[backend]) - set(opinfo.operators())
        assert all(EXPECTED[backend].values())


def test_a_wrong_value_is_seen() -> None:
    """The comparison itself: types, shapes, NaN, complex numbers, small differences."""

    same = opinfo.difference
    x = torch.tensor([1.0, float("nan"), 3.0])
    assert not same(x, x.clone(), 1e-4, 1e-5)
    assert same(x.double(), x, 1e-4, 1e-5)
    assert same(x[:2], x, 1e-4, 1e-5)
    assert same(x + 1, x, 1e-4, 1e-5)
    assert same(torch.zeros(3), x, 1e-4, 1e-5)
    assert same(torch.tensor([1]), torch.tensor([2]), 1e-4, 1e-5)
    z = torch.tensor([1 + 2j])
    assert not same(z, z.clone(), 1e-4, 1e-5)
    assert same(z.conj().resolve_conj(), z, 1e-4, 1e-5)
