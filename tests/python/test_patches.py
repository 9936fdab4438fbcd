"""Patches of a session: applied, and removed in every case."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import FunctionPatch, _patches, _state


def names_of(*owners: Any) -> list[dict[str, Any]]:
    return [dict(vars(owner)) for owner in owners]


def test_a_session_leaves_pytorch_as_it_was(bench: Workbench) -> None:
    before = names_of(torch.Tensor, torch, torch.utils)
    with bench.trace():
        assert vars(torch.Tensor) != before[0]
    assert names_of(torch.Tensor, torch, torch.utils) == before


PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "tracing.md"


def test_a_page_lists_every_patched_name() -> None:
    table = PAGE.read_text().partition("## What is patched")[2]
    listed = set(re.findall(r"\w+", " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    _state.load()
    from leapp import _branches, _numpy, _tensor

    patches = [*_tensor.patches(), *_branches.patches(), *_numpy.patches()]
    assert {name for _, values in patches for name in values} <= listed
    of_numpy = [name for owner, values in patches for name in values if _is_numpys(owner, name)]
    assert len(of_numpy) <= 25


def _is_numpys(owner: Any, name: str) -> bool:
    return "numpy" in getattr(owner, "__module__", owner.__name__) or name in (
        "from_numpy",
        "tensor",
        "as_tensor",
    )


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
