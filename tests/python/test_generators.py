"""Draws of Python's and NumPy's own generators inside nodes."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import annotate


def run(bench: Workbench, number: Callable[[], float], passes: int) -> None:
    """Trace a node that multiplies by a number, and compile it."""
    with bench.trace():
        for _ in range(passes):
            x = annotate.input_tensors("pi", {"x": torch.rand(4)})
            annotate.output_tensors("pi", {"y": x * number()}, export_with="onnx")
    bench.compile()


@pytest.mark.parametrize(
    "generator", [random.random, np.random.rand, np.random.normal], ids=["random", "rand", "normal"]
)
def test_draws_of_other_generators_are_named(
    bench: Workbench, generator: Callable[[], float]
) -> None:
    state = random.getstate(), np.random.get_state()[1:3]
    run(bench, lambda: 2.0, 1)
    assert [each.code for each in leapp.diagnostics()] == []
    assert repr(state) == repr((random.getstate(), np.random.get_state()[1:3]))
    run(bench, generator, 1)
    assert [each.code for each in leapp.diagnostics()] == ["LP204"]
    generator()  # outside of a node
    with refused("LP409"):
        run(bench, generator, 3)
    assert [each.code for each in leapp.diagnostics()].count("LP204") == 1
