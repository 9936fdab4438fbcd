"""Numbers of the program's that change: named where the node's code reads them, and only there."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, tells_positions, trace

import leapp
from leapp import annotate


class _Counter(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x * math.cos(0.0 * self.count)


class _CounterOfTheClass(_Counter):
    count = 0


def test_a_number_that_changed_is_named_after_any_number_of_passes(bench: Workbench) -> None:
    for policy in (_Counter(count=0), _CounterOfTheClass()):
        log = trace(bench, policy)
        assert "'policy.count' was 0 before node 'node' was traced" in log
        assert "and is 1 now" in log
    # What is computed with it happens to be the same in both.
    log = trace(bench, _Counter(count=0), passes=2)
    assert "'policy.count' went from 0 to 2 over the passes" in log
    assert "the program reads it" in log


def test_a_number_that_the_second_pass_began_with_is_not_named(bench: Workbench) -> None:
    class Scheduler(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.order = 0
            while self.order < 3:
                self.order += 1
                x = x * self.order
            return x

    assert "[WARNING]" not in trace(bench, Scheduler(order=0), passes=2)


def test_a_number_that_is_none_has_not_changed(bench: Workbench) -> None:
    class Unset(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.limit = float("nan")  # another object each time
            return x if math.isnan(self.limit) else x * 2

    assert "'policy.limit'" not in trace(bench, Unset(limit=float("nan")))


class _Commanded(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.speed + self.offsets[1]

    def step(self, x: torch.Tensor) -> torch.Tensor:
        self.speed, self.offsets = 1.5, [1.0, 2.0]
        return super().step(x)


def test_numbers_that_are_set_before_the_only_pass_are_named(bench: Workbench) -> None:
    log = trace(bench, _Commanded(speed=0.0, offsets=[0.0, 0.0]))
    assert "'policy.speed' was 0.0 before node 'node' was traced and is 1.5 now" in log
    assert "'policy.offsets' was (0.0, 0.0) before node 'node'" in log


@tells_positions
def test_a_number_that_is_only_shown_is_not_named(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.count += 1
            mean = x.mean().item()
            print("pass", self.count, f"{mean:.3f}", x.max().item())
            assert torch.isfinite(x).all()
            if x.isnan().any():
                raise ValueError
            if self.count % 100 == 0:
                print("alive")
            return x * 2

    assert "[WARNING]" not in trace(bench, Policy(count=0), passes=2)


def test_a_number_that_is_shown_and_used_is_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            mean = x.mean().item()
            print(mean)
            return x * mean

    assert "turns a traced tensor into a number" in trace(bench, Policy())


def test_a_number_that_is_chosen_by_is_named_after_any_number_of_passes(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.count += 1
            return -x if self.count % 5 == 0 else x

    log = trace(bench, Policy(count=0), passes=2)
    assert "'policy.count' went from 0 to 2 over the passes" in log
    assert "the program chooses by it" in log


_global_count = 0


def test_a_variable_of_the_module_is_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            global _global_count
            _global_count += 1
            return x * (0.0 * _global_count + 1.0)

    assert "'_global_count' was 0 before node 'node' was traced" in trace(bench, Policy())


_seen: dict[int, int] = {}


def test_the_length_of_a_dict_of_the_module_is_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            _seen[len(_seen)] = 1
            return x * (2 if len(_seen) > 5 else 1)

    assert "'_seen' went from length 0 to length 2" in trace(bench, Policy(), passes=2)


def test_of_many_the_first_are_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            for name in [name for name in vars(self) if name.startswith("count")]:
                setattr(self, name, getattr(self, name) + 1)
            return x * 2

    log = trace(bench, Policy(**{f"count{i}": i for i in range(9)}))
    assert log.count("before node 'node' was traced") == 9
    assert log.count("[WARNING]") == 6
    assert "the same holds for 4 others, which log.txt lists" in log


def test_a_number_that_no_code_of_the_node_reads_is_not_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.steps += 1
            self.tallies["frames"] += 1
            return x * 2

        def report(self) -> str:
            return f"{self.steps} {self.tallies['frames']}"

    assert "[WARNING]" not in trace(bench, Policy(steps=0, tallies={"frames": 0}))


@tells_positions
@pytest.mark.parametrize("passes", [1, 3])
def test_what_is_done_around_a_node_is_not_done_in_it(bench: Workbench, passes: int) -> None:
    class Watchdog:
        late = 0

        def tick(self, x: torch.Tensor) -> None:
            self.late = self.late + 1 if self.late < 100 else 0
            x = annotate.input_tensors("node", {"x": x})
            y = x * 2
            annotate.output_tensors("node", {"y": y}, export_with="jit")
            if self.late > 50:
                self.late = 0

    watchdog = Watchdog()
    leapp.start("g", save_path=str(bench.folder))
    for _ in range(passes):
        watchdog.tick(torch.randn(3))
    leapp.stop()
    assert leapp.diagnostics() == []


class _Called:
    def __init__(self) -> None:
        self.k = 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.k += 1
        return x if self.k < 6 else x.clamp(-1, 1)


class _Passed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.k = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.k += 1
        return x if self.k < 6 else x.clamp(-1, 1)


class _Limits(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.limit(x * 2)
        return y


class _Scheduled(NodePolicy):
    def __init__(self) -> None:
        self.ticks = 0
        self.gain = lambda: 0.5 if self.ticks > 6 else 2.0

    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.ticks += 1
        return x * self.gain()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: _Limits(limit=_Called()), "policy.limit.k"),
        (lambda: _Limits(limit=_Passed()), "policy.limit.k"),
        (_Scheduled, "policy.ticks"),
    ],
)
def test_what_is_read_by_code_that_is_not_named_is_named(
    bench: Workbench, make: Any, name: str
) -> None:
    assert f"'{name}' went from 0 to 2" in trace(bench, make(), passes=2)
