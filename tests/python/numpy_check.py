"""NumPy code in a node, exported and compared with NumPy on new values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from conftest import Workbench

from leapp import annotate

TRACED = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], dtype=np.float32)
FRESH = np.array([[0.5, -1.25, 2.0], [3.0, 6.5, 0.75]], dtype=np.float32)


def check_tensors(bench: Workbench, compute: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Export a function of a tensor and compare it on new values."""
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())})
        annotate.output_tensors("n", {"y": compute(x)}, export_with="jit")
    bench.compile()
    fresh = torch.from_numpy(FRESH.copy())
    torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], compute(fresh))


def check(bench: Workbench, compute: Callable[[np.ndarray], Any]) -> None:
    """Trace NumPy code; on new inputs the model must compute the same as NumPy."""
    expected = np.asarray(compute(TRACED.copy()))
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.from_numpy(TRACED.copy())})
        y = compute(x.numpy())
        assert np.array_equal(y.view(np.ndarray), expected, equal_nan=True)
        assert y.dtype == expected.dtype
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    bench.compile()
    found = bench.manager()({"n/x": torch.from_numpy(FRESH.copy())})["n/y"]
    fresh = np.asarray(compute(FRESH.copy()))
    np.testing.assert_allclose(found.numpy(), fresh, rtol=1e-4, atol=1e-5)
