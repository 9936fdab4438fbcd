"""Functions that compile_graph() may call again, on inputs that were never traced."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench

import leapp
from leapp import annotate


def trace(bench: Workbench, call: Callable[[], Any]) -> None:
    with torch.no_grad(), bench.trace():
        for _ in range(2):
            call()


def named() -> list[leapp.Diagnostic]:
    return [each for each in leapp.diagnostics() if each.code == "LP948"]


class Policy:
    def __init__(self) -> None:
        self.calls = 0
        self.gain = 1.0

    @annotate.method(node_name="pi", export_with="onnx")
    def act(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        y = x * 2 * self.gain if x.sum() > 0 else x - 1  # the line
        return y


def traced_policy(bench: Workbench) -> Policy:
    policy = Policy()
    trace(bench, lambda: policy.act(torch.rand(4) + 0.1))
    return policy


@pytest.mark.parametrize("options", [{}, {"thorough": True}, {"rerun": []}])
def test_no_function_is_called_unless_it_is_named(bench: Workbench, options: Any) -> None:
    policy = traced_policy(bench)
    assert bench.compile(**options) == {"pi": True}
    assert policy.calls == 2 and not named()


def test_a_branch_that_was_taken_for_constant_is_named_by_its_line(bench: Workbench) -> None:
    policy = traced_policy(bench)
    assert bench.compile(rerun=["pi"]) == {"pi": True}
    (warning,) = named()
    assert policy.calls > 2 and warning.node == "pi" and "'y'" in warning.text
    line = int(warning.where.partition(".py:")[2].split()[0])
    with open(__file__, encoding="utf-8") as file:
        assert "# the line" in file.read().splitlines()[line - 1]


def test_a_number_that_the_program_changed_since(bench: Workbench) -> None:
    class Scaled:
        gain = 1.0

        @annotate.method(node_name="pi", export_with="jit")
        def act(self, x: torch.Tensor) -> torch.Tensor:
            y = x * self.gain
            return y

    scaled = Scaled()
    trace(bench, lambda: scaled.act(torch.rand(3)))
    scaled.gain = 2.0
    bench.compile(rerun=["pi"])
    assert len(named()) == 1


def test_a_pure_function_gives_no_message(bench: Workbench) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ELU(), torch.nn.Linear(8, 2))

    @annotate.method(export_with="onnx")
    def pi(obs: dict[str, torch.Tensor], scale: float = 0.5) -> tuple[torch.Tensor, torch.Tensor]:
        action = torch.tanh(model(obs["x"])) * scale + obs["y"]
        value = obs["x"].mean(-1)
        return action, value

    trace(bench, lambda: pi({"x": torch.randn(1, 4), "y": torch.randn(1, 2)}, scale=0.25))
    assert bench.compile(thorough=True, rerun=["pi"]) == {"pi": True}
    assert not named()


def test_arrays_go_in_as_arrays(bench: Workbench) -> None:
    kinds = []

    @annotate.method(export_with="onnx")
    def pi(x: Any) -> Any:
        kinds.append(isinstance(x, np.ndarray))
        y = x * 2
        return y

    trace(bench, lambda: pi(np.ones(3, np.float32)))
    bench.compile(rerun=["pi"])
    assert len(kinds) > 2 and all(kinds) and not named()


def test_a_function_that_refuses_such_inputs_is_left_alone(bench: Workbench) -> None:
    @annotate.method(export_with="onnx")
    def pi(x: torch.Tensor) -> torch.Tensor:
        if (x <= 0).any():
            raise ValueError("positive numbers only")
        y = torch.log(x)
        return y

    trace(bench, lambda: pi(torch.rand(3) + 0.5))
    assert bench.compile(rerun=["pi"]) == {"pi": True}
    assert not named()


def test_a_name_without_a_traced_function_is_refused(bench: Workbench) -> None:
    traced_policy(bench)
    with pytest.raises(leapp.LeappError) as error:
        bench.compile(rerun=["policy"])
    assert error.value.code == "LP003" and "'policy'" in str(error.value)
    with pytest.raises(TypeError):
        bench.compile(rerun="pi")


def test_no_argument_of_a_traced_call_is_kept_alive(bench: Workbench) -> None:
    policy = traced_policy(bench)
    x = torch.rand(4)
    with torch.no_grad(), bench.trace():
        policy.act(x)
    gone = weakref.ref(policy), weakref.ref(x)
    del policy, x
    gc.collect()
    assert [each() for each in gone] == [None, None]
