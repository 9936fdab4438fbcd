"""Inputs that were never traced: models against the traced operators, functions against models."""

from __future__ import annotations

import functools
import random
import socket
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench

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
    """A converter that is right for positive numbers alone."""

    @leapp.onnx.converter("aten::relu")
    def convert(op: Any) -> Any:
        return op.emit("Abs", [op.tensor("self")])

    yield
    leapp.onnx.remove_converter("aten::relu")


@pytest.mark.usefixtures("relu_as_abs")
def test_a_conversion_that_is_right_near_the_trace_alone(bench: Workbench) -> None:
    trace(bench, lambda: node(torch.rand(4) + 1, torch.relu))
    with pytest.raises(leapp.LeappValidationError, match="on inputs that were never traced"):
        bench.compile()
    log = bench.log()
    assert "[LP947]" in log and "sign-flipped" in log and "test_counter_examples.py:" in log


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: torch.special.chebyshev_polynomial_t(x, x),  # as many terms as a number says
        lambda x: torch.nn.functional.grid_sample(
            x.reshape(1, 1, 2, 2, 2), x[:, :6].reshape(1, 1, 1, 2, 3), align_corners=False
        ),
        lambda x: torch.linalg.cholesky_ex(x.reshape(2, 2, 2) + 3 * torch.eye(2))[0],
    ],
    ids=["degrees", "places", "factors"],
)
def test_where_there_is_no_right_answer_none_is_wrong(
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


# --- Functions -----------------------------------------------------------------------------------


def test_a_branch_that_was_baked_in_is_named_by_its_line(bench: Workbench) -> None:
    @annotate.method(export_with="onnx")
    def pi(x: torch.Tensor) -> torch.Tensor:
        y = x * 2 if x.sum() > 0 else x - 1  # the line
        return y

    trace(bench, lambda: pi(torch.rand(4) + 0.1))
    assert bench.compile() == {"pi": True}
    (warning,) = said("LP948")
    assert warning.node == "pi" and "'y'" in warning.text
    line = int(warning.where.partition(".py:")[2].split()[0])
    with open(__file__, encoding="utf-8") as file:
        assert "# the line" in file.read().splitlines()[line - 1]


def test_a_number_that_was_baked_in(bench: Workbench) -> None:
    @annotate.method(export_with="jit")
    def pi(x: torch.Tensor) -> torch.Tensor:
        y = x / x.abs().max().item()
        return y

    trace(bench, lambda: pi(torch.tensor([1.0, 2.0])))
    bench.compile()
    assert len(said("LP948")) == 1


def test_a_counter_that_was_baked_in(bench: Workbench) -> None:
    class Policy:
        gain = 1.0

        @annotate.method(export_with="onnx")
        def act(self, x: torch.Tensor) -> torch.Tensor:
            y = x * self.gain
            return y

    policy = Policy()
    trace(bench, lambda: policy.act(torch.rand(3)))
    policy.gain = 2.0
    bench.compile()
    assert len(said("LP948")) == 1


def test_a_function_of_its_inputs_says_nothing(bench: Workbench) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ELU(), torch.nn.Linear(8, 2))

    @annotate.method(export_with="onnx")
    def pi(x: torch.Tensor, scale: float = 0.5) -> tuple[torch.Tensor, torch.Tensor]:
        action = torch.tanh(model(x)) * scale
        value = x.mean(-1)
        return action, value

    trace(bench, lambda: pi(torch.randn(1, 4)))
    assert bench.compile(thorough=True) == {"pi": True}
    assert not said("LP948")


def test_arrays_go_in_as_arrays(bench: Workbench) -> None:
    kinds = []

    @annotate.method(export_with="onnx")
    def pi(x: Any) -> Any:
        kinds.append(isinstance(x, np.ndarray))
        y = x * 2
        return y

    trace(bench, lambda: pi(np.ones(3, np.float32)))
    bench.compile()
    assert all(kinds) and not said("LP948")


class Stateful:
    """Everything that a call may change."""

    gain = 1
    log: list[int] = []  # noqa: RUF012
    peak = torch.zeros(())

    def __init__(self) -> None:
        self.calls = 0
        self.seen: list[float] = []
        self.last: dict[str, torch.Tensor] = {}
        self.buffer = torch.zeros(3)
        self.array = np.zeros(3)
        self.replaced = torch.zeros(3)
        self.generator = torch.Generator().manual_seed(3)
        self.draws = (random.Random(3), np.random.default_rng(3))
        self.bound = self.count

    @annotate.method(export_with="onnx")
    def act(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.seen.append(1.0)
        self.last["x"] = x
        self.buffer[0] = 5
        self.array += 1
        self.replaced = torch.ones(3)
        torch.rand(1)
        random.random()
        torch.rand(1, generator=self.generator)
        self.draws[0].random()
        self.draws[1].random()
        self.bound()
        self.log.append(self.calls)
        Stateful.peak = torch.maximum(self.peak, x.max())
        Stateful.latest = x  # type: ignore[attr-defined]
        y = x * self.twice * self.same(self.gain)
        return y

    def count(self) -> None:
        self.calls += 1

    @property
    def twice(self) -> int:
        return 2

    @staticmethod
    def same(number: int) -> int:
        return number

    def drawn(self) -> str:
        return f"{self.draws[0].getstate()} {self.draws[1].bit_generator.state}"


def test_the_program_does_not_notice(bench: Workbench) -> None:
    policy = Stateful()
    trace(bench, lambda: policy.act(torch.rand(3)))
    before = dict(vars(policy), seen=list(policy.seen), last=dict(policy.last))
    before |= {"log": list(policy.log), "peak": policy.peak}
    del Stateful.latest  # type: ignore[attr-defined]
    contents = (policy.buffer.clone(), policy.array.copy(), policy.generator.get_state())
    torch_state, python_state = torch.get_rng_state(), random.getstate()
    drawn = policy.drawn()
    bench.compile()
    assert not hasattr(Stateful, "latest")
    assert not [each for each in leapp.diagnostics() if each.code == "LP948"]
    assert policy.drawn() == drawn
    for name, value in before.items():
        now = getattr(policy, name)
        assert now is value or now == value, name
    assert torch.equal(policy.buffer, contents[0]) and np.array_equal(policy.array, contents[1])
    assert torch.equal(policy.generator.get_state(), contents[2])
    assert torch.equal(torch.get_rng_state(), torch_state) and random.getstate() == python_state


def test_a_function_is_called_again_as_it_was_in_inference_mode(bench: Workbench) -> None:
    policy = SimpleNamespace(net=torch.nn.Linear(3, 3), calls=0, h=torch.zeros(3), made=None)
    policy.made = policy.net(torch.zeros(3))  # which is no leaf: to ask for its .grad is a warning

    @annotate.method(export_with="onnx")
    def pi(x: torch.Tensor) -> torch.Tensor:
        policy.h.copy_(x)
        y = policy.net(x) * (2 if x.sum() > 0 else 1)
        return y

    with torch.inference_mode():
        policy.h = torch.zeros(3)
        trace(bench, lambda: pi(torch.rand(3) + 0.1))
    h = policy.h.clone()
    bench.compile()
    assert torch.equal(policy.h, h) and said("LP948")


def test_what_cannot_be_undone_is_not_called(bench: Workbench, capfd: Any) -> None:
    @annotate.method(export_with="onnx")
    def pi(x: torch.Tensor) -> torch.Tensor:
        print("called")
        y = x * 2
        return y

    trace(bench, lambda: pi(torch.rand(3)))
    capfd.readouterr()
    bench.compile()
    assert "called" not in capfd.readouterr().out
    assert "was not called on other inputs: " in bench.log()


def test_an_iterator_cannot_be_put_back(bench: Workbench) -> None:
    gains = iter([1.0] * 100)

    @annotate.method(export_with="onnx")
    def pi(x: torch.Tensor) -> torch.Tensor:
        y = x * next(gains)
        return y

    trace(bench, lambda: pi(torch.rand(3)))
    left = gains.__length_hint__()  # type: ignore[attr-defined]
    bench.compile()
    assert gains.__length_hint__() == left  # type: ignore[attr-defined]


def test_a_socket_behind_a_partial_is_not_written_to(bench: Workbench) -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    emit = functools.partial(ours.sendall, b"go")

    @annotate.method(export_with="onnx")
    def pi(x: torch.Tensor) -> torch.Tensor:
        emit()
        y = x * 2
        return y

    with ours, theirs:
        trace(bench, lambda: pi(torch.rand(3)))
        assert theirs.recv(100) == b"gogo"
        bench.compile()
        with pytest.raises(BlockingIOError):
            theirs.recv(100)
    assert "was not called on other inputs: it reaches a partial" in bench.log()


def test_a_function_that_refuses_such_inputs_is_left_alone(bench: Workbench) -> None:
    @annotate.method(export_with="onnx")
    def pi(x: torch.Tensor) -> torch.Tensor:
        if (x <= 0).any():
            raise ValueError("positive numbers only")
        y = torch.log(x)
        return y

    trace(bench, lambda: pi(torch.rand(3) + 0.5))
    assert bench.compile() == {"pi": True}
    assert not said("LP948")
