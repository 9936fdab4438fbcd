"""Variables of the program's functions that are running while a node is open."""

from __future__ import annotations

import runpy
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Workbench
from node_policy import tells_positions

import leapp
from leapp import annotate


def _loop_with_counter(passes: int) -> None:
    for t in range(passes):
        x = annotate.input_tensors("node", {"x": torch.randn(3)})
        y = -x if t >= 6 else x
        annotate.output_tensors("node", {"y": y}, export_with="jit")


def _loop_of_calls(passes: int) -> None:
    def step(x: torch.Tensor, time: float) -> None:
        x = annotate.input_tensors("node", {"x": x})
        y = x * (1.0 if time < 0.1 else 2.0)
        annotate.output_tensors("node", {"y": y}, export_with="jit")

    time = 0.0
    for _ in range(passes):
        step(torch.randn(3), time)
        time += 0.02


def _loop_of_a_generator(passes: int) -> None:
    def controller() -> Iterator[None]:
        mode = "stand"
        while True:
            x = annotate.input_tensors("node", {"x": torch.randn(3)})
            y = x * (1.0 if mode == "trot" else 2.0)
            annotate.output_tensors("node", {"y": y}, export_with="jit")
            mode = "walk" if mode == "stand" else "trot"
            yield

    for _ in zip(range(passes), controller(), strict=False):
        pass


@tells_positions
@pytest.mark.parametrize(
    ("loop", "text"),
    [
        (_loop_with_counter, "'t' went from 0 to 1"),
        (_loop_of_calls, "'time' went from 0.0 to 0.02"),
        (_loop_of_a_generator, "'mode' went from 'stand' to 'walk'"),
    ],
)
def test_a_variable_of_a_running_function_is_named(bench: Workbench, loop: Any, text: str) -> None:
    leapp.start("g", save_path=str(bench.folder))
    loop(2)
    leapp.stop()
    (said,) = leapp.diagnostics()
    assert said.code == "LP218" and text in said.text and "chooses by" in said.text


@tells_positions
def test_a_variable_that_is_used_around_the_node_is_not_named(bench: Workbench) -> None:
    layers, data, kept = [torch.nn.Tanh()] * 4, torch.randn(3, 3), [torch.empty(0)] * 3
    for i in range(2):
        assert layers[i]
    leapp.start("g", save_path=str(bench.folder))
    for t in range(3):
        x = annotate.input_tensors("node", {"x": data[t]})
        for i in range(4):
            x = layers[i](x)
        x = x + sum(t for t in range(3))
        kept[t] = annotate.output_tensors("node", {"y": x}, export_with="jit")
    leapp.stop()
    assert leapp.diagnostics() == []


class _Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor, t: int = 0) -> torch.Tensor:
        return x * 2 if t < 5 else x


@tells_positions
@pytest.mark.parametrize("handed_on", [False, True])
def test_a_variable_is_read_by_another_name_where_it_is_handed_on(
    bench: Workbench, handed_on: bool
) -> None:
    scaled = _Scaled()

    def apart() -> None:
        for t in range(2):
            x = torch.randn(3, generator=torch.Generator().manual_seed(t))
            x = annotate.input_tensors("node", {"x": x})
            annotate.output_tensors("node", {"y": scaled(x)}, export_with="jit")

    def together() -> None:
        for t in range(2):
            x = annotate.input_tensors("node", {"x": torch.randn(3)})
            annotate.output_tensors("node", {"y": scaled(x, t)}, export_with="jit")

    leapp.start("g", save_path=str(bench.folder))
    (together if handed_on else apart)()
    leapp.stop()
    assert [said.code for said in leapp.diagnostics()] == (["LP218"] if handed_on else [])


@tells_positions
def test_a_tensor_of_a_running_function_is_not_held(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    for _ in range(2):
        x = annotate.input_tensors("node", {"x": torch.randn(3)})
        y = annotate.output_tensors("node", {"y": x * 2}, export_with="jit")
    gone = weakref.ref(x)
    del x, y
    leapp.stop()
    assert gone() is None


_SCRIPT = """
from leapp import annotate
tick = 0
for x in observations:
    x = annotate.input_tensors("node", {"x": x})
    y = -x if tick > 5 else x
    tick += 1
    annotate.output_tensors("node", {"y": y}, export_with="jit")
"""


@tells_positions
def test_a_variable_of_a_script_is_named(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(_SCRIPT)
    leapp.start("g", save_path=str(bench.folder))
    given = {"observations": [torch.randn(3)] * 2}
    runpy.run_path(str(tmp_path / "script.py"), init_globals=given)
    leapp.stop()
    assert "'tick' went from 0 to 2" in bench.log()
