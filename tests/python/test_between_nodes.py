"""Computation between nodes becomes part of the bundle, or is reported as missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from conftest import Workbench
from torch import Tensor

import leapp
from leapp import annotate

ORDER, MODE = torch.tensor([1, 5, 2, 0]), torch.tensor([1])
SCALE = torch.tensor([0.5, 2.0, -1.0, 3.0])


class TwoNodes:
    """Two nodes with a computation in between, and optionally a loop around them."""

    def __init__(
        self,
        backend: str,
        way: Callable[[Tensor], Tensor],
        back: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        self.backend, self.way, self.back = backend, way, back
        generator = torch.Generator().manual_seed(1)
        self.first = torch.randn(8, 8, generator=generator)
        self.second: Any = None
        self.last = torch.ones(1, 4)

    def tick(self, x: Tensor) -> Tensor:
        inputs = {"x": x} if self.back is None else {"x": x, "last": self.last}
        given = annotate.input_tensors("a", inputs)
        h = given if self.back is None else given[0] + given[1].repeat(1, 2)
        z = annotate.output_tensors(
            "a", {"z": torch.tanh(h @ self.first)}, export_with=self.backend
        )
        h = annotate.input_tensors("b", {"h": self.way(z)})
        y = annotate.output_tensors("b", {"y": torch.sin(h * 2)}, export_with=self.backend)
        if self.back is not None:
            self.last = self.back(y)
        return y


def compare(bench: Workbench, make: Callable[[], TwoNodes], passes: int) -> None:
    program = make()
    with bench.trace():
        for _ in range(passes):
            program.tick(torch.randn(1, 8))
    bench.compile()
    manager, program = bench.manager(), make()
    assert manager.inputs == ["a/x"]
    for _ in range(6):
        x = torch.randn(1, 8)
        got = manager.run_policy({"a/x": x})
        torch.testing.assert_close(torch.as_tensor(got["b/y"]), program.tick(x))


WAYS: dict[str, Callable[[Tensor], Tensor]] = {
    "a slice": lambda z: z[:, :4],
    "chosen columns": lambda z: z[:, [1, 5, 2, 0]],
    "columns by a tensor": lambda z: z[:, ORDER],
    "a chosen row": lambda z: z.view(2, 4)[MODE],
    "another shape": lambda z: z.view(2, 4),
    "a transposed one": lambda z: z.view(2, 4).t(),
    "a part of several": lambda z: z.chunk(2, -1)[1].relu(),
    "parts put together": lambda z: torch.cat([z[:, :2], z[:, 4:6] * 2], -1),
    "a write to the whole": lambda z: z[:, :4].clone().clamp_(-0.3, 0.3),
    "a layer": torch.nn.Linear(8, 4),
    "a constant": lambda z: z[:, :4] * SCALE,
}


@pytest.mark.parametrize("way", WAYS)
def test_computation_between_nodes_is_exported(bench: Workbench, backend: str, way: str) -> None:
    compare(bench, lambda: TwoNodes(backend, WAYS[way]), passes=2)


@pytest.mark.parametrize("passes", [2, 3])
def test_computation_in_the_loop_is_exported(bench: Workbench, backend: str, passes: int) -> None:
    def make() -> TwoNodes:
        return TwoNodes(backend, lambda z: z[:, :4], lambda y: y * 0.5 + 1)

    compare(bench, make, passes)


def test_it_is_one_line_of_the_log(bench: Workbench) -> None:
    compare(bench, lambda: TwoNodes("jit", WAYS["a slice"]), passes=1)
    (said,) = leapp.diagnostics()
    assert (said.code, said.level) == ("LP205", "INFO")
    assert "aten::slice" in said.text and "part of node 'a'" in said.text
    assert said.text in bench.log()


@pytest.mark.parametrize(
    ("way", "level"),
    [
        ("chosen columns", "INFO"),
        ("columns by a tensor", "INFO"),
        ("a chosen row", "WARNING"),
        ("a constant", "WARNING"),
    ],
)
def test_additional_tensors_are_reported_except_an_order(
    bench: Workbench, way: str, level: str
) -> None:
    compare(bench, lambda: TwoNodes("jit", WAYS[way]), passes=2)
    (said,) = leapp.diagnostics()
    assert (said.code, said.level) == ("LP205", level)


def test_the_ports_stay_as_they_were_annotated(bench: Workbench) -> None:
    compare(bench, lambda: TwoNodes("jit", WAYS["a slice"]), passes=1)
    models, pipeline = bench.yaml()["models"], bench.yaml()["pipeline"]
    assert [port["name"] for port in models["b"]["inputs"]] == ["h"]
    assert models["b"]["inputs"][0]["shape"] == [1, 4]
    assert [port["name"] for port in models["a"]["outputs"]] == ["z", "h"]
    assert pipeline["data_flow"] == {"a/h": ["b/h"]}


def test_a_simulator_between_the_nodes_stays_outside(bench: Workbench) -> None:
    x = torch.ones(1, 4)
    with bench.trace():
        for _ in range(3):
            u = annotate.input_tensors("pi", {"x": x})
            u = annotate.output_tensors("pi", {"u": u * 2}, export_with="jit")
            x = x * 0.9 + u
    bench.compile()
    (said,) = leapp.diagnostics()
    assert (said.code, said.level) == ("LP205", "WARNING")
    assert bench.manager().inputs == ["pi/x"]
