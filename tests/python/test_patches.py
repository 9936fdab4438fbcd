"""Patches of a session: applied, and removed in every case."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import FunctionPatch, _patches


def names_of(*owners: Any) -> list[dict[str, Any]]:
    return [dict(vars(owner)) for owner in owners]


def test_a_session_leaves_pytorch_as_it_was(bench: Workbench) -> None:
    before = names_of(torch.Tensor, torch, torch.utils)
    with bench.trace():
        assert vars(torch.Tensor) != before[0]
    assert names_of(torch.Tensor, torch, torch.utils) == before


def test_nothing_is_patched_without_global_patching(bench: Workbench) -> None:
    before = names_of(torch.Tensor, torch.utils)
    with bench.trace(global_patching=False):
        assert names_of(torch.Tensor, torch.utils) == before


def test_a_replacement_by_the_program_stays(bench: Workbench) -> None:
    library = SimpleNamespace(scale=abs, name="library")
    library.__name__ = "library"

    def of_the_program(x: Any) -> Any:
        return x

    with bench.trace(patching=[FunctionPatch(library, "scale", lambda x: x)]):
        library.scale = of_the_program
    assert library.scale is of_the_program


def test_an_installation_that_fails_is_taken_back(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names_of(torch.Tensor)
    failing = SimpleNamespace(scale=abs)
    patch = FunctionPatch(failing, "scale", abs)
    del failing.scale
    with pytest.raises(AttributeError):
        leapp.start("g", save_path=str(bench.folder), patching=[patch])
    assert names_of(torch.Tensor) == before


def test_restoring_twice_does_nothing() -> None:
    before = names_of(torch.Tensor)
    _patches.restore()
    _patches.restore()
    assert names_of(torch.Tensor) == before
