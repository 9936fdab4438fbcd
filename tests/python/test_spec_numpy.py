"""NumPy and torch inside a node, and functions that a program has patched."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import Workbench

import leapp
from leapp import annotate


class TestNumpyInterop:
    def test_round_trip_keeps_the_trace(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            y = torch.from_numpy(x.numpy()) * 2
            annotate.output_tensors("n", {"y": y}, export_with="jit")
        bench.compile()
        fresh = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], fresh * 2)

    @pytest.mark.parametrize("back", ["from_numpy", "as_tensor", "tensor"])
    @pytest.mark.parametrize("away", ["numpy", "asarray"])
    def test_each_way(self, bench: Workbench, back: str, away: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            array = x.numpy() if away == "numpy" else np.asarray(x)
            annotate.output_tensors("n", {"y": getattr(torch, back)(array) * 2}, export_with="jit")
        bench.compile()
        fresh = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], fresh * 2)

    def test_patches_go_away_with_stop(self, bench: Workbench) -> None:
        before = torch.from_numpy, torch.as_tensor, torch.tensor, torch.Tensor.numpy
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        assert (torch.from_numpy, torch.as_tensor, torch.tensor, torch.Tensor.numpy) == before

    def test_function_patch(self, bench: Workbench) -> None:
        import math

        with bench.trace(
            patching=[leapp.FunctionPatch(math, "fabs", lambda value: torch.abs(value))]
        ):
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            annotate.output_tensors("n", {"y": math.fabs(x)}, export_with="jit")
        bench.compile()
        assert math.fabs(-2.0) == 2.0
        fresh = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], fresh.abs())
