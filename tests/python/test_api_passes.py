"""Messages about passes that differ from the first one."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import annotate

Function = Callable[[torch.Tensor], torch.Tensor]


def _trace(bench: Workbench, function: Function, passes: int, *, vary: bool = True) -> str:
    with bench.trace():
        for number in range(passes):
            given = torch.full((3,), 0.1 * (number + 1) if vary else 0.1)
            x = annotate.input_tensors("node", {"x": given})
            annotate.output_tensors("node", {"y": function(x)}, export_with="jit")
    leapp.compile_graph(visualize=False, strict=False)
    return bench.log()


def _differing(bench: Workbench) -> list[str]:
    """Return the operators that differ in a later pass, each by its line in this file."""
    said = [each for each in leapp.diagnostics() if each.code == "LP301"]
    assert all("test_api_passes.py" in each.where for each in said)
    return [word for each in said for word in re.findall(r"aten::\w+", each.text)]


def _moving_average() -> Function:
    history: list[torch.Tensor] = []

    def function(x: torch.Tensor) -> torch.Tensor:
        history.append(x)
        return torch.stack(history[-3:]).mean(0)

    return function


def _integral() -> Function:
    kept: dict[str, Any] = {"sum": 0.0}

    def function(x: torch.Tensor) -> torch.Tensor:
        kept["sum"] = kept["sum"] + x * 1e-6
        return x + kept["sum"]

    return function


def _counter() -> Function:
    count = 0

    def function(x: torch.Tensor) -> torch.Tensor:
        nonlocal count
        count += 1
        return x * count

    return function


class TestNamed:
    def test_lists_that_grow(self, bench: Workbench) -> None:
        """Also where the values do not show it, as with a robot that stands still."""
        _trace(bench, _moving_average(), 4, vary=False)
        assert set(_differing(bench)) == {"aten::stack"}

    def test_a_number_that_becomes_a_tensor(self, bench: Workbench) -> None:
        """Also where it is too small for a comparison of values."""
        _trace(bench, _integral(), 2)
        assert _differing(bench) == ["aten::add"]

    def test_numbers_that_change(self, bench: Workbench) -> None:
        _trace(bench, _counter(), 2)
        assert _differing(bench) == ["aten::mul"]

    def test_each_difference_once(self, bench: Workbench) -> None:
        _trace(bench, _integral(), 2)
        assert bench.codes().count("LP301") == 1


class TestFirstTick:
    def first(self) -> Function:
        kept: list[torch.Tensor] = []

        def function(x: torch.Tensor) -> torch.Tensor:
            smooth = kept.pop() * 0.5 + x if kept else x
            kept.append(smooth)
            return smooth * 2

        return function

    def test_three_passes_export_it(self, bench: Workbench) -> None:
        _trace(bench, self.first(), 3)
        (said,) = [each for each in leapp.diagnostics() if each.code == "LP308"]
        assert said.node == "node" and "test_api_passes.py" in said.where
        manager = bench.manager()
        function = self.first()
        for _ in range(2):
            for _ in range(4):
                x = torch.randn(3)
                assert torch.allclose(manager.run_policy({"node/x": x})["node/y"], function(x))
            manager.reset()
            function = self.first()

    def test_two_passes_ask_for_a_third(self, bench: Workbench) -> None:
        log = _trace(bench, self.first(), 2)
        assert "if only the first tick differs, trace 3 passes or more" in log

    def test_a_queue_asks_for_as_many_as_it_takes(self, bench: Workbench) -> None:
        for passes in (3, 4, 5):
            queue: collections.deque[torch.Tensor] = collections.deque(maxlen=4)

            def function(
                x: torch.Tensor, queue: collections.deque[torch.Tensor] = queue
            ) -> torch.Tensor:
                queue.extend([x] if queue else [x] * 4)
                return torch.cat(list(queue))

            log = _trace(bench, function, passes)
            assert ("trace 5 passes or more" in log) == (passes < 5)

    def test_a_constant_that_changed_is_none(self, bench: Workbench) -> None:
        offsets = iter([0.0, 1.0, 1.0, 1.0])
        log = _trace(bench, lambda x: x + torch.full((3,), next(offsets)), 4)
        assert "LP308" not in bench.codes()
        assert "Mismatch" in log

    def test_a_choice_by_values_is_none(self, bench: Workbench) -> None:
        _trace(bench, lambda x: x * 2 if x.sum() < 0.4 else x - 1, 4)
        assert "LP201" in bench.codes() and "LP308" not in bench.codes()


class TestWrittenBetween:
    """State that a node replaces and the program then overwrites outside of nodes."""

    @pytest.mark.parametrize("reset", [False, True])
    def test_a_reset_is_named_and_nothing_is_refused(self, bench: Workbench, reset: bool) -> None:
        h = torch.zeros(2, 4)
        with bench.trace():
            for _ in range(3):
                x = annotate.input_tensors("n", {"x": torch.rand(2, 4) + 1})
                h = (h + x).tanh()
                annotate.output_tensors("n", {"y": h * 2}, export_with="jit")
                h[torch.tensor([reset, False])] = 0.0
        leapp.compile_graph(visualize=False)
        said = [each for each in leapp.diagnostics() if each.level == "WARNING"]
        assert [each.code for each in said] == (["LP312"] if reset else [])
        assert all("test_api_passes.py" in each.where for each in said)


class TestOutputsOfStateAlone:
    class Delay:
        def __init__(self) -> None:
            self.last = torch.zeros(3)

        def step(self, x: torch.Tensor) -> torch.Tensor:
            out, self.last = self.last, x * 2
            return out

    def test_a_single_pass_cannot_tell(self, bench: Workbench) -> None:
        delay = self.Delay()
        with bench.trace():
            x = annotate.input_tensors("node", {"x": torch.ones(3)})
            annotate.output_tensors("node", {"y": delay.step(x)}, export_with="jit")
        with refused("LP111"):
            leapp.compile_graph(visualize=False)

    def test_a_constant_attribute_is_refused(self, bench: Workbench) -> None:
        class Fixed:
            def __init__(self) -> None:
                self.value = torch.ones(3)

            def step(self, x: torch.Tensor) -> torch.Tensor:
                return self.value * 2

        fixed = Fixed()
        with bench.trace():
            for _ in range(2):
                x = annotate.input_tensors("node", {"x": torch.ones(3)})
                annotate.output_tensors("node", {"y": fixed.step(x)}, export_with="jit")
        with refused("LP111"):
            leapp.compile_graph(visualize=False)


def _smooth() -> Function:
    kept = [torch.zeros(3)]

    def function(x: torch.Tensor) -> torch.Tensor:
        kept[0] = kept[0] * 0.5 + x
        return kept[0] * 2

    return function


@pytest.mark.parametrize("make", [_smooth, _integral])
def test_compiling_again_writes_the_same(bench: Workbench, make: Callable[[], Function]) -> None:
    """Also if the passes show state or a different first tick."""
    _trace(bench, make(), 3)
    once = bench.text()
    assert "feedback_flow:\n    node/" in once
    bench.compile(dry_run=True)
    bench.compile()
    assert bench.text() == once


class Kept:
    """A value that a program keeps."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


class TestAgainstTheProgram:
    """The bundle computes the same as its program, or a message reports the difference."""

    def agrees(self, bench: Workbench, make: Callable[[], Function], passes: int) -> bool:
        step, plain = make(), make()
        with bench.trace():
            for _ in range(passes):
                x = annotate.input_tensors("node", {"x": torch.randn(2, 2)})
                annotate.output_tensors("node", {"y": step(x)}, export_with="jit")
        bench.compile()
        robot = bench.manager()
        found = (
            (robot.run_policy({"node/x": x})["node/y"], plain(x)) for x in torch.randn(8, 2, 2)
        )
        return all(torch.allclose(y, wanted, atol=1e-5) for y, wanted in found)

    def codes(self) -> set[str]:
        return {each.code for each in leapp.diagnostics() if each.level == "WARNING"}

    @pytest.mark.parametrize("passes", [2, 3])
    def test_memory_of_a_replaced_state(self, bench: Workbench, passes: int) -> None:
        def make() -> Function:
            s = Kept(sum=torch.zeros(2, 2), last=torch.zeros(2, 2))

            def step(x: torch.Tensor) -> torch.Tensor:
                s.sum += x
                y = x - s.last
                s.last, s.sum = s.sum.clone(), torch.zeros(2, 2)
                return y

            return step

        assert self.agrees(bench, make, passes)
        assert self.codes() == set()

    @pytest.mark.parametrize("passes", [2, 4])
    def test_state_that_is_a_view_of_the_last_input(self, bench: Workbench, passes: int) -> None:
        def make() -> Function:
            s = Kept(past={"rows": [torch.zeros(2), torch.zeros(2)]})

            def step(x: torch.Tensor) -> torch.Tensor:
                y = x.sum(0) + s.past["rows"][0] - 2 * s.past["rows"][1]
                s.past = {"rows": [x[0], x[1]]}
                return y

            return step

        assert self.agrees(bench, make, passes)
        assert self.codes() == set()

    @pytest.mark.parametrize("passes", [2, 3, 4])
    def test_autograd_through_a_layer(self, bench: Workbench, passes: int) -> None:
        net = torch.nn.Linear(2, 2)

        def make() -> Function:
            s = Kept(h=torch.zeros(2, 2))

            def step(x: torch.Tensor) -> torch.Tensor:
                z = (x + s.h).detach().requires_grad_(True)
                s.h = 0.5 * s.h + x
                return torch.autograd.grad(net(z).pow(2).sum(), z)[0]

            return step

        assert self.agrees(bench, make, passes)
        assert self.codes() == set()

    def delay(self) -> Function:
        s = Kept(
            q=collections.deque([torch.zeros(2, 2) for _ in range(2)], maxlen=2),
            h=torch.zeros(2, 2),
        )

        def step(x: torch.Tensor) -> torch.Tensor:
            y = x + s.q[0]
            s.q.append(s.h)
            s.h = 0.5 * s.h + x
            return y

        return step

    def test_a_delay_shows_after_as_many_passes(self, bench: Workbench) -> None:
        assert self.agrees(bench, self.delay, 4)

    def test_a_delay_that_does_not_show_yet_is_named(self, bench: Workbench) -> None:
        assert not self.agrees(bench, self.delay, 3)
        assert "LP303" in self.codes()

    def test_a_name_that_one_tensor_loses_is_named(self, bench: Workbench) -> None:
        def make() -> Function:
            s = Kept(q=[torch.ones(2, 2)] * 2)

            def step(x: torch.Tensor) -> torch.Tensor:
                y = s.q[0] + x
                s.q[0].mul_(x)
                s.q[0] = torch.where(x > 0, s.q[1], x)
                return y

            return step

        assert not self.agrees(bench, make, 2)
        assert "LP302" in self.codes()


def test_a_value_of_an_open_node_is_refused(bench: Workbench) -> None:
    @annotate.method(node_name="inner", export_with="jit")  # type: ignore[untyped-decorator]
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @annotate.method(node_name="outer", export_with="jit")  # type: ignore[untyped-decorator]
    def outer(x: torch.Tensor) -> torch.Tensor:
        return inner(x + 1) + x  # type: ignore[no-any-return]

    with (
        bench.trace(),
        refused("LP110", "'inner'", "'outer'"),
    ):
        outer(torch.ones(2))
