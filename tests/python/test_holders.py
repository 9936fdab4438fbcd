"""Paths to the objects that the program holds, and the names derived from them."""

from __future__ import annotations

import collections
import functools
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, trace

import leapp
from leapp import _holders, annotate
from leapp._holders import name_of


def test_state_is_called_after_the_path_to_it(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.parts["hidden"].mul_(0.5).add_(x)
            self.mean = 0.9 * self.mean + 0.1 * x
            total: torch.Tensor = self.parts["hidden"] + self.mean
            return total

    trace(bench, Policy(parts={"hidden": torch.zeros(3)}, mean=torch.zeros(3)), passes=9)
    assert "parts_hidden" in bench.text() and "name: mean" in bench.text()


def test_state_of_an_object_that_is_made_in_the_session_has_its_name_too(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.mean = 0.9 * self.mean + 0.1 * x
            return self.mean * 2

    with torch.no_grad(), bench.trace():
        policy = Policy(mean=torch.zeros(3))
        for _ in range(9):
            policy.step(torch.randn(3))
    bench.compile()
    assert "name: mean" in bench.text()


def test_weights_are_called_as_the_outermost_module_calls_them(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = self.part(x)
            return out

    net = torch.nn.Sequential(collections.OrderedDict(head=torch.nn.Linear(3, 3)))
    trace(bench, Policy(part=net.head, net=net))
    names = {name for name, _ in _holders.tensor_names().values()}
    assert {"head.weight", "head.bias"} <= names


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("env.action_manager.action", "action_manager_action"),
        ("env.scene['imu'].data", "scene_imu_data"),
        ("self.buffer[2]", "buffer_2"),
        ("ring[2]", "ring_2"),
        ("policy._hidden", "hidden"),
        ("mean", "mean"),
    ],
)
def test_a_path_becomes_a_name(path: str, name: str) -> None:
    assert name_of(path) == name


class _Slotted:
    __slots__ = ("pose",)

    def __init__(self) -> None:
        self.pose = torch.full((3,), 0.3)


class _OfTheClass:
    pose = torch.full((3,), 0.4)

    def get(self) -> torch.Tensor:
        return self.pose


def _closure() -> Any:
    pose = torch.full((3,), 0.5)
    return lambda: pose


@pytest.mark.parametrize(
    ("held", "get", "path"),
    [
        (_Slotted(), lambda held: held.pose, "held.pose"),
        (_OfTheClass(), lambda held: held.pose, "_OfTheClass.pose"),
        (_closure(), lambda held: held(), "pose"),
        (SimpleNamespace(a=[(torch.ones(3) * 3,)]), lambda h: h.a[0][0], "held.a[0][0]"),
        (functools.partial(torch.add, torch.ones(3) * 4), lambda h: h.args[0], "held[0]"),
    ],
)
def test_tensors_of_objects_are_found(bench: Workbench, held: Any, get: Any, path: str) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = x + get(self.held)
            return result

    policy = Policy(held=held)
    trace(bench, policy)
    (constant,) = leapp.inventory()[0].constants
    assert constant.path == path


def test_rings_and_long_chains_are_followed(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    ring: list[Any] = [torch.zeros(3)]
    ring.append(ring)
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    chain: Any = None
    for _ in range(5000):
        chain = [chain]
    assert "[WARNING]" not in trace(bench, Policy(ring=ring, loop=loop, chain=chain), passes=2)


def test_an_output_that_an_object_holds_may_be_state(bench: Workbench) -> None:
    class Delayed(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            before, self.last = self.last, x * 2
            result: torch.Tensor = before
            return result

    trace(bench, Delayed(last=torch.zeros(3)), passes=2)
    manager = bench.manager()
    manager({"node/x": torch.ones(3)})
    assert manager({"node/x": torch.zeros(3)})["node/y"].tolist() == [2.0, 2.0, 2.0]


def test_an_output_that_only_a_variable_holds_is_refused_immediately(bench: Workbench) -> None:
    raw = torch.randn(3)
    with bench.trace():
        annotate.input_tensors("node", {"x": torch.randn(3)})
        with pytest.raises(leapp.LeappError) as error:
            annotate.output_tensors("node", {"y": raw}, export_with="jit")
        assert error.value.code == "LP111"


def test_stop_crosses_to_the_compiled_module_a_handful_of_times(bench: Workbench) -> None:
    holders = [type(f"Holder{i}", (), {"get": lambda self: self}) for i in range(50)]
    held = [kind() for kind in holders]
    calls: list[str] = []

    def note(_: Any, event: str, called: Any) -> None:
        owner = type(getattr(called, "__self__", None)).__module__
        if event == "c_call" and (
            getattr(called, "__module__", "") == "leapp._trace" or owner == "pybind11_builtins"
        ):
            calls.append(called.__name__)

    leapp.start("g", save_path=str(bench.folder))
    sys.setprofile(note)
    leapp.stop()
    sys.setprofile(None)
    assert held and calls.count("stop") == 1
    assert len(calls) <= 20, calls
