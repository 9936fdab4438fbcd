"""Memory that nodes write in place, and that the program resets around them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import annotate

Tick = Callable[[torch.Tensor], torch.Tensor]


def add(node: str, memory: torch.Tensor, x: torch.Tensor, reads: bool = True) -> torch.Tensor:
    """Add a node's input to external memory."""
    x = annotate.input_tensors(node, {"x": x})
    memory.add_(x)
    return annotate.output_tensors(node, {"y": (memory if reads else x) * 1}, export_with="onnx")


def kept() -> Tick:
    memory = torch.zeros(3)
    return lambda x: add("b", memory, add("a", memory, x))


def made_anew() -> Tick:
    def tick(x: torch.Tensor) -> torch.Tensor:
        memory = torch.zeros(3)
        return add("b", memory, add("a", memory, x))

    return tick


def copied_anew() -> Tick:
    start = torch.ones(3)

    def tick(x: torch.Tensor) -> torch.Tensor:
        memory = start.clone()
        return add("b", memory, add("a", memory, x))

    return tick


def made_anew_for_one() -> Tick:
    return lambda x: add("a", torch.ones(3), x)


def reset_before() -> Tick:
    memory = torch.ones(3)

    def tick(x: torch.Tensor) -> torch.Tensor:
        memory.fill_(1)
        return add("b", memory, add("a", memory, x))

    return tick


def written_for_the_next() -> Tick:
    memory = torch.ones(3)

    def tick(x: torch.Tensor) -> torch.Tensor:
        memory.fill_(1)
        return add("b", memory, add("a", memory, x, reads=False))

    return tick


def reset_between() -> Tick:
    memory = torch.ones(3)

    def tick(x: torch.Tensor) -> torch.Tensor:
        y = add("a", memory, x)
        memory.fill_(1)
        return add("b", memory, y)

    return tick


def reset_after() -> Tick:
    memory = torch.ones(3)

    def tick(x: torch.Tensor) -> torch.Tensor:
        y = add("b", memory, add("a", memory, x))
        memory.fill_(1)
        return y

    return tick


def compare(bench: Workbench, make: Callable[[], Tick], passes: int) -> list[str]:
    """Compare the bundle with the program over new ticks; return the messages."""
    tick = make()
    with bench.trace():
        for _ in range(passes):
            tick(torch.randn(3))
    bench.compile()
    said = [each.code for each in leapp.diagnostics() if each.level != "INFO"]
    manager, tick = bench.manager(), make()
    for _ in range(4):
        x = torch.randn(3)
        got = next(reversed(manager({"a/x": x}).values()))
        torch.testing.assert_close(got, tick(x), rtol=1e-4, atol=1e-5)
    return said


@pytest.mark.parametrize("passes", [2, 4])
@pytest.mark.parametrize(
    "make",
    [
        kept, made_anew, copied_anew, made_anew_for_one, reset_before, written_for_the_next,
        reset_between, reset_after,
    ],
)  # fmt: skip
def test_passes_show_persistent_memory(
    bench: Workbench, make: Callable[[], Tick], passes: int
) -> None:
    assert compare(bench, make, passes) == []


@pytest.mark.parametrize("make", [made_anew, copied_anew, made_anew_for_one])
def test_after_one_pass_released_memory_is_scratch(
    bench: Workbench, make: Callable[[], Tick]
) -> None:
    assert compare(bench, make, 1) == ["LP303"]


def test_after_one_pass_kept_memory_is_state(bench: Workbench) -> None:
    assert compare(bench, kept, 1) == []


def test_changes_between_passes_are_reported(bench: Workbench) -> None:
    memory = torch.ones(3)
    with bench.trace():
        for _ in range(3):
            memory.mul_(0.5)
            add("b", memory, add("a", memory, torch.randn(3), reads=False))
    bench.compile()
    assert "LP312" in {each.code for each in leapp.diagnostics()}
