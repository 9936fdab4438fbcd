"""Methods of tensors inside a node: their results, and the uses that are reported."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import annotate


def codes_of(bench: Workbench, use: Callable[[torch.Tensor], Any]) -> list[str]:
    with torch.no_grad(), bench.trace():
        x = annotate.input_tensors("n", {"x": torch.arange(4.0).reshape(2, 2)})
        use(x)
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    return [each.code for each in leapp.diagnostics()]


@pytest.mark.parametrize(
    ("use", "code"),
    [
        (lambda x: x.tolist(), "LP202"),
        (lambda x: x.data_ptr(), "LP202"),
        (pickle.dumps, "LP214"),
        (lambda x: float(x[0, 0]), "LP202"),
    ],
)
def test_values_that_leave_are_reported(bench: Workbench, use: Any, code: str) -> None:
    assert codes_of(bench, use) == [code]


@pytest.mark.parametrize(
    "use",
    [
        repr,
        "{}".format,
        copy.copy,
        copy.deepcopy,
        lambda x: x.shape,
        lambda x: (len(x), x.size(0), x.numel()),
        lambda x: x.numpy(),
        lambda x: x.clone().__setitem__(0, x[1]),
    ],
)
def test_these_uses_are_not(bench: Workbench, use: Any) -> None:
    assert codes_of(bench, use) == []


def test_a_deep_copy_stays_in_the_graph(bench: Workbench) -> None:
    with torch.no_grad(), bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": copy.deepcopy(x) * 2}, export_with="jit")
    assert bench.compile() == {"n": True}
    outputs = bench.manager()({"n/x": torch.full((2,), 3.0)})
    assert outputs["n/y"].tolist() == [6.0, 6.0]


def test_the_methods_are_pytorchs_own_afterwards(bench: Workbench) -> None:
    names = ("numpy", "tolist", "__deepcopy__", "__getitem__", "__len__", "shape", "__repr__")
    before = [getattr(torch.Tensor, name) for name in names]
    codes_of(bench, repr)
    assert [getattr(torch.Tensor, name) for name in names] == before
