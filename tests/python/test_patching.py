"""FunctionPatch: its arguments, and the conditions under which its function is called."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import FunctionPatch, LeappError, annotate


@pytest.mark.parametrize(
    ("name", "replacement", "code"),
    [(3, abs, "LP002"), ("sin", 3, "LP002"), ("no_such", abs, "LP003"), ("pi", abs, "LP003")],
)
def test_invalid_targets_are_refused(name: Any, replacement: Any, code: str) -> None:
    with pytest.raises(LeappError) as caught:
        FunctionPatch(math, name, replacement)
    assert caught.value.code == code


class Library:
    @staticmethod
    def scale(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(x.numpy() * 3)


def test_it_is_called_on_traced_values_only_and_removed_afterwards(bench: Workbench) -> None:
    seen: list[bool] = []

    def scale(x: torch.Tensor) -> torch.Tensor:
        seen.append(True)
        return x * 3

    original = vars(Library)["scale"]
    with bench.trace(patching=[FunctionPatch(Library, "scale", scale)]):
        Library.scale(torch.ones(2))
        assert not seen
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": Library.scale(x)}, export_with="jit")
    assert seen == [True]
    assert vars(Library)["scale"] is original
    assert bench.compile() == {"n": True}


def test_two_of_one_function_are_refused(bench: Workbench) -> None:
    patch = FunctionPatch(Library, "scale", abs)
    with pytest.raises(LeappError) as caught:
        leapp.start("g", save_path=str(bench.folder), patching=[patch, patch])
    assert caught.value.code == "LP003"
