"""Random numbers in a node: of generators, of Python's functions, of PyTorch's where it chooses."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, tells_positions, trace


class _Generator(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.from_numpy(self.rng.normal(size=3).astype(np.float32))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_numbers_of_a_generator_are_named(bench: Workbench, make: Any) -> None:
    log = trace(bench, _Generator(rng=make(0)))
    assert "test_detect_random_numbers.py" in log
    assert "'policy.rng' drew random numbers that come in here" in log


class _Scalar(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(self.rng.uniform(0, 1))


@pytest.mark.parametrize("make", [np.random.default_rng, random.Random, random.SystemRandom])
def test_single_numbers_of_a_generator_are_named(bench: Workbench, make: Any) -> None:
    log = trace(bench, _Scalar(rng=make(0)))
    assert "'policy.rng' drew random numbers while node 'node' was open" in log


def test_a_generator_used_between_nodes_is_no_matter(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        def step(self, x: torch.Tensor) -> torch.Tensor:
            return super().step(x + float(self.rng.uniform()))

    assert "[WARNING]" not in trace(bench, Policy(rng=np.random.default_rng(0)))


def test_a_generator_used_between_nodes_is_no_matter_in_later_passes(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.from_numpy(np.ones(3, dtype=np.float32))

        def step(self, x: torch.Tensor) -> torch.Tensor:
            return super().step(x + float(self.rng.uniform()))

    assert "[WARNING]" not in trace(bench, Policy(rng=np.random.default_rng(0)), passes=3)


def test_numbers_that_are_drawn_from_the_second_pass_on_are_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            sticks = self.last is not None and self.rng.uniform() < 0
            self.last = 1
            return -x if sticks else x * 2

    log = trace(bench, Policy(rng=np.random.default_rng(0), last=None), passes=3)
    assert "Generator 'policy.rng' drew random numbers while node 'node' was open" in log


@tells_positions
def test_pythons_random_numbers_are_named_with_their_line(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x + random.uniform(-1, 1)

    log = trace(bench, Policy())
    assert "Policy.function: random.uniform() draws random numbers" in log


@tells_positions
def test_random_numbers_that_choose_a_branch_are_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x if torch.rand(1) > 2 else -x

    log = trace(bench, Policy())
    assert "Policy.function: aten::is_nonzero turns random numbers" in log


def test_a_distribution_checks_its_parameters_without_a_word(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            choice = torch.distributions.Categorical(logits=x, validate_args=True)
            return choice.probs - choice.log_prob(choice.probs.argmax())

    assert "[WARNING]" not in trace(bench, Policy())
