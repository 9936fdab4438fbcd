"""Every opset from 17 to 23: a valid model with the same values, or an error with the opset."""

from __future__ import annotations

import re

import pytest
import test_onnx_indexing
import test_onnx_layers
import test_onnx_matrices
import torch
from conftest import Workbench, refused
from onnx_fresh import Case, case, check, normal

import leapp

CASES: dict[str, Case] = {
    **test_onnx_layers.CASES,
    **test_onnx_indexing.CASES,
    **{n: case(f, normal(4, 4)) for n, f in test_onnx_matrices.FUNCTIONS.items()},
}
#: Operators that need more than opset 17, with the first opset that they export to.
NEEDS: dict[str, int] = {
    "grid-volume": 20,
    **{
        f"{kind}-{extreme}-{inside}": 18
        for kind in ("scatter", "scatter-int", "index")
        for extreme in ("amax", "amin")
        for inside in (True, False)
    },
}


@pytest.mark.parametrize("opset", [17, 18, 19, 21, 22, 23])
def test_opset(opset: int, bench: Workbench) -> None:
    import onnx

    refused = []
    # All operators with the oldest and newest opset; every third one with those in between.
    chosen = list(CASES) if opset in (17, 23) else [*list(CASES)[::3], "grid-volume"]
    for name in dict.fromkeys(chosen):
        one = CASES[name]
        try:
            with torch.no_grad():
                check(bench, one, rounds=1, opset_version=opset)
        except leapp.errors.LeappExportError as error:
            assert re.search(r"needs opset \d+", str(error)), f"{name}: {error}"
            refused.append(name)
            continue
        except Exception as error:
            raise AssertionError(f"{name}, opset {opset}: {error}") from error
        model = onnx.load(bench.path("g", "n.onnx"))
        assert [o.version for o in model.opset_import if o.domain == ""] == [opset]
    needs_more = {name for name, least in NEEDS.items() if least > opset}
    assert set(refused) == needs_more & set(chosen)


@pytest.mark.parametrize("opset", [16, 24])
def test_no_such_opset(opset: int, bench: Workbench) -> None:
    with refused("LP003"):
        check(bench, case(torch.tanh, normal(3)), opset_version=opset)
