"""Undeclared state and numbers: listed as constants, or found by a shadow run."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, tells_positions, trace

import leapp
from leapp import annotate


class Counter(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x * math.cos(0.1 * self.count)


class CounterBehindAMinimum(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x * min(1.0, 8 / self.count)


class ChosenByACounter(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return -x if self.count % 5 == 0 else x


class ChosenByALength(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.seen[len(self.seen)] = 1
        return x * 2 if len(self.seen) > 5 else x


class ChosenByAMode(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.mode += "."
        return x * 2 if self.mode == "stand....." else x


class Commanded(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.speed + self.offsets[1]


class Replaced(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.h = x if self.h is None else 0.5 * self.h + x
        return self.h * 2


class Lazy(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        if not hasattr(self, "offset"):
            self.offset = x.clone()
        return x - self.offset


class Nested(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.s = type(self.s)(h=[{"h": 0.5 * self.s.h[0]["h"] + x}])
        result: torch.Tensor = self.s.h[0]["h"] * 2
        return result


class Default(NodePolicy):
    def function(self, x: torch.Tensor, seen: list[torch.Tensor] = []) -> torch.Tensor:  # noqa: B006
        seen.append(x)
        return x + seen[0]


class Popped(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(self.gains.pop(0))


class Iterated(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * next(self.gains)


class Drawn(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(self.draw())


class Clock(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * (time.time() % 10)


class Thread(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        with ThreadPoolExecutor(1) as threads:
            return x + threads.submit(torch.tanh, x).result()


class OfTheClass(NodePolicy):
    gain = 1.5

    def function(self, x: torch.Tensor) -> torch.Tensor:
        OfTheClass.gain *= 0.5
        return x * OfTheClass.gain


TABLE: list[tuple[Any, int, str]] = [
    (lambda: Counter(count=0), 1, "inventory"),
    (lambda: CounterBehindAMinimum(count=0), 3, "shadow"),
    (lambda: ChosenByACounter(count=0), 2, "shadow"),
    (lambda: ChosenByALength(seen={}), 2, "shadow"),
    (lambda: ChosenByAMode(mode="stand"), 2, "shadow"),
    (lambda: Commanded(speed=1.25, offsets=[0.0, 2.25]), 1, "inventory"),
    (lambda: Commanded(speed=1.25, offsets=[0.0, 2.25]), 3, "inventory"),
    (lambda: Replaced(h=None), 1, "shadow"),
    (lambda: Replaced(h=torch.zeros(3)), 1, "inventory"),
    (Lazy, 1, "shadow"),
    (lambda: Nested(s=SimpleNamespace(h=[{"h": torch.zeros(3)}])), 1, "inventory"),
    (Default, 1, "shadow"),
    (lambda: Popped(gains=[2.0] * 4 + [3.0] * 20), 2, "inventory"),
    (lambda: Iterated(gains=itertools.cycle([1.5, 2.5])), 1, "inventory"),
    (lambda: Drawn(draw=random.Random(3).random), 1, "inventory"),
    (lambda: Drawn(draw=np.random.default_rng(0).uniform), 1, "inventory"),
    (Clock, 1, "inventory"),
    (Thread, 1, "inventory"),
    (OfTheClass, 1, "inventory"),
]


def voice(bench: Workbench, make: Any, passes: int) -> str:
    """Return what names a policy's undeclared state or number after an export without a message."""
    trace(bench, make(), passes)
    constants = [each for node in leapp.inventory() for each in node.constants]
    if any("test_undeclared.py" in each.where for each in constants):
        return "inventory"
    policy = make()
    with torch.no_grad(), leapp.shadow(bench.path("g", "g.yaml")) as run:
        for _ in range(12):
            policy.step(torch.randn(3))
    return "nothing" if run.report().passed else "shadow"


@tells_positions
@pytest.mark.parametrize(("make", "passes", "expected"), TABLE)
def test_undeclared_values_are_named(
    bench: Workbench, make: Any, passes: int, expected: str
) -> None:
    assert voice(bench, make, passes) == expected


@tells_positions
def test_a_number_that_is_only_shown_is_not_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            print("pass", f"{x.mean().item():.3f}", x.max().item())
            assert torch.isfinite(x).all()
            if x.isnan().any():
                raise ValueError
            return x * 2

    assert "[WARNING]" not in trace(bench, Policy(), passes=2)


def test_a_number_that_is_used_is_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * x.mean().item()

    trace(bench, Policy())
    assert "LP202" in [each.code for each in leapp.diagnostics()]


def test_a_copy_is_not_a_pickle(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = copy.copy(x) * 2
            return result

    assert "[WARNING]" not in trace(bench, Policy(), passes=2)


def test_a_pickled_tensor_is_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            copied: torch.Tensor = pickle.loads(pickle.dumps(x))
            return x + copied

    trace(bench, Policy())
    assert [each.code for each in leapp.diagnostics()] == ["LP214"]


@tells_positions
def test_random_numbers_that_choose_a_branch_are_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x if torch.rand(1) > 2 else -x

    trace(bench, Policy())
    assert "LP201" in [each.code for each in leapp.diagnostics()]


def test_a_distribution_checks_its_parameters_without_a_word(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            choice = torch.distributions.Categorical(logits=x, validate_args=True)
            return choice.probs - choice.log_prob(choice.probs.argmax())

    assert "[WARNING]" not in trace(bench, Policy())


class TestOneCauseIsOneMessage:
    """A command that was not declared and that changes while the node is traced."""

    def compile(self, bench: Workbench, **options: Any) -> Any:
        command = torch.zeros(3)
        with bench.trace():
            for tick in range(4):
                command.fill_(float(tick))
                x = annotate.input_tensors("n", {"x": torch.ones(3)})
                annotate.output_tensors("n", {"y": x * 2 + command}, export_with="jit")
        return bench.compile(**options)

    def test_the_error_names_it(self, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(leapp.LeappValidationError) as error:
            self.compile(bench)
        assert "test_undeclared.py" in str(error.value) and "command" in str(error.value)
        printed = re.findall(r"^\[(?:WARNING|ERROR)\].*", capfd.readouterr().err, re.M)
        assert printed == []
        assert len([code for code in bench.codes() if code in ("LP301", "LP302")]) == 1

    def test_a_failure_that_is_allowed_is_a_warning_and_an_error(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert self.compile(bench, strict=False) == {"n": False}
        printed = re.findall(r"^\[(?:WARNING|ERROR)\].*\[(LP\d+)\]$", capfd.readouterr().err, re.M)
        assert sorted(printed) in (["LP301", "LP409"], ["LP302", "LP409"])
