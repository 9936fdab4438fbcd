"""Inputs that were never traced: models, compared with the traced operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import annotate


def said(code: str) -> list[leapp.Diagnostic]:
    found = [each for each in leapp.diagnostics() if each.code == code]
    return [each for each in found if each.level == "WARNING"]


def trace(bench: Workbench, call: Callable[[], Any], passes: int = 2) -> None:
    with torch.no_grad(), bench.trace():
        for _ in range(passes):
            call()


def node(x: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = annotate.input_tensors("pi", {"x": x})
    annotate.output_tensors("pi", {"y": compute(x)}, export_with="onnx")


# --- Conversions ---------------------------------------------------------------------------------


@pytest.fixture
def relu_as_abs() -> Iterator[None]:
    """A converter that is right only for positive numbers."""

    @leapp.onnx.converter("aten::relu")
    def convert(op: Any) -> Any:
        return op.emit("Abs", [op.tensor("self")])

    yield
    leapp.onnx.remove_converter("aten::relu")


@pytest.mark.usefixtures("relu_as_abs")
def test_a_conversion_that_is_right_near_the_trace_alone(bench: Workbench) -> None:
    trace(bench, lambda: node(torch.rand(4) + 1, torch.relu))
    with refused("LP409"):
        bench.compile()
    log = bench.log()
    assert "[LP947]" in log and "sign-flipped" in log and "test_counter_examples.py:" in log


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: torch.special.chebyshev_polynomial_t(
            x, x
        ),  # the number of terms depends on a number
        lambda x: torch.nn.functional.grid_sample(
            x.reshape(1, 1, 2, 2, 2), x[:, :6].reshape(1, 1, 1, 2, 3), align_corners=False
        ),
        lambda x: torch.linalg.cholesky_ex(x.reshape(2, 2, 2) + 3 * torch.eye(2))[0],
    ],
    ids=["degrees", "places", "factors"],
)
def test_discontinuous_results_are_not_errors(
    bench: Workbench, compute: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    trace(bench, lambda: node(torch.rand(1, 8), compute))
    assert bench.compile(thorough=True) == {"pi": True}


@pytest.mark.usefixtures("relu_as_abs")
def test_without_strict_it_is_a_failed_node(bench: Workbench) -> None:
    trace(bench, lambda: node(torch.rand(4) + 1, torch.relu))
    assert bench.compile(strict=False) == {"pi": False}


@pytest.mark.usefixtures("relu_as_abs")
def test_without_validation_nothing_is_tried(bench: Workbench) -> None:
    trace(bench, lambda: node(torch.rand(4) + 1, torch.relu))
    assert bench.compile(validate=False) is True


def _index(x: torch.Tensor) -> torch.Tensor:
    table = torch.arange(12.0).reshape(4, 3)
    return table[x]


FINE: dict[str, tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]] = {
    "ties": (torch.rand(2, 5), lambda x: x.argmax(-1)),
    "sorted": (torch.rand(9), lambda x: x.topk(4).values),
    "cancellation": (torch.rand(64), lambda x: (x - x.mean()) / (x.std() + 1e-6)),
    "division": (torch.rand(4) + 1, lambda x: 1 / x),
    "logarithm": (torch.rand(4) + 1, torch.log),
    "saturation": (torch.rand(4), lambda x: torch.sigmoid(100 * x)),
    "softmax": (torch.rand(3, 4), lambda x: x.softmax(-1)),
    "rounding": (torch.rand(8), torch.round),
    "threshold": (torch.rand(8), lambda x: torch.where(x > 0.5, x, -x)),
    "index": (torch.tensor([0, 3, 2]), _index),
    "mask": (torch.tensor([True, False]), lambda x: x.float() * 2),
    "half": (torch.rand(8).half(), lambda x: x * 3),
    "double": (torch.rand(8).double(), lambda x: x.exp()),
    "angle": (torch.rand(4), lambda x: torch.sin(50 * x)),
}


@pytest.mark.parametrize("name", FINE)
def test_no_false_alarm(name: str, bench: Workbench) -> None:
    x, compute = FINE[name]
    trace(bench, lambda: node(x, compute))
    assert bench.compile(thorough=True) == {"pi": True}, bench.log()


def test_state_is_tried_as_well(bench: Workbench) -> None:
    class Program:
        h = torch.zeros(3)

        def step(self) -> None:
            x = annotate.input_tensors("pi", {"x": torch.rand(3)})
            self.h = torch.tanh(self.h + x)
            annotate.output_tensors("pi", {"y": self.h * 2}, export_with="onnx")

    trace(bench, Program().step, 3)
    assert bench.compile(thorough=True) == {"pi": True}, bench.log()
