"""Tensors that the program replaces around a node that has run too seldom to show what they are."""

from __future__ import annotations

import collections
import dataclasses
import threading
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, check_only_warning, trace

from leapp import annotate


class _Replaced(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.h = x if self.h is None else 0.5 * self.h + x
        return self.h


@pytest.mark.parametrize("first", [None, torch.zeros(3)])
def test_a_tensor_that_was_replaced_is_named_after_one_pass(bench: Workbench, first: Any) -> None:
    assert "'policy.h' was replaced while node 'node'" in trace(bench, _Replaced(h=first))


@dataclasses.dataclass
class _State:
    h: Any


class _WholeState(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.s = type(self.s)(h=[{"h": 0.5 * self.s.h[0]["h"] + x}])
        return self.s.h[0]["h"] * 2


@pytest.mark.parametrize("kind", [_State, SimpleNamespace])
def test_an_object_that_was_replaced_is_named_after_one_pass(bench: Workbench, kind: Any) -> None:
    log = trace(bench, _WholeState(s=kind(h=[{"h": torch.zeros(3)}])))
    assert "'policy.s' was replaced while node 'node'" in log


class _Drawing(NodePolicy):
    def spread(self, x: torch.Tensor) -> None:
        self.distribution = torch.distributions.Normal(x, x.abs() + 1)

    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.spread(x)
        return self.distribution.mean * 2


def test_an_object_that_is_made_anew_is_not_suspected(bench: Workbench) -> None:
    assert "[WARNING]" not in trace(bench, _Drawing(distribution=None))


class _AssignedFirst(NodePolicy):
    """As stable-baselines3 keeps a sample, and skrl distributions, for whoever asks later."""

    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.sample = torch.tanh(x)
        if self.wide:
            self.parts = [torch.distributions.Normal(x, 2 * self.sample.exp())]
        else:
            self.parts = [torch.distributions.Normal(x, self.sample.exp())]
        self.left_over = x
        return self.sample + self.parts[0].mean


@pytest.mark.parametrize("passes", [1, 2])
def test_what_is_assigned_before_it_is_read_is_not_suspected(bench: Workbench, passes: int) -> None:
    policy = _AssignedFirst(sample=None, parts=[], left_over=None, wide=True)
    assert "[WARNING]" not in trace(bench, policy, passes)


def test_what_only_one_way_assigns_before_it_is_read_is_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            if self.wide:
                self.h = x
            y = x if self.h is None else x + self.h
            self.h = y
            return y

    assert "'policy.h' was replaced while node 'node'" in trace(bench, Policy(h=None, wide=False))


def test_a_tensor_that_was_given_other_memory_is_named_after_one_pass(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.h.data = 0.5 * self.h + x
            return self.h * 2

    assert "'policy.h' was replaced while node 'node'" in trace(bench, Policy(h=torch.zeros(3)))


def test_a_declared_state_is_not_suspected(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            h = annotate.state_tensors("node", {"h": self.h})
            self.h = annotate.update_state("node", {"h": 0.5 * h + x})
            return self.h * 2

    assert "[WARNING]" not in trace(bench, Policy(h=torch.zeros(3)))


def test_a_delay_longer_than_the_passes_is_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.line.append(2 * x)
            return self.line.popleft() + 0 * x

    line = collections.deque([torch.zeros(3)] * 2)
    assert "no later pass has read yet" in trace(bench, Policy(line=line), passes=2)


class _Lazy(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        if not hasattr(self, "offset"):
            self.offset = x.clone()
        return x - self.offset


class _Entry(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.parts["sum"] = self.parts.get("sum", 0) + x
        total: torch.Tensor = self.parts["sum"]
        return total * 2


class _FromZero(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = 0.9 * self.mean + 0.1 * x.mean()
        return x - self.mean


class _OfTheClass(_FromZero):
    mean: Any = torch.zeros(())


class _NoneOfTheClass(_Replaced):
    h = None


class _Default(NodePolicy):
    def function(self, x: torch.Tensor, seen: list[torch.Tensor] = []) -> torch.Tensor:  # noqa: B006
        seen.append(x)
        return x + seen[0]


def _smooth(x: torch.Tensor) -> torch.Tensor:
    mean: torch.Tensor = 0.5 * getattr(_smooth, "mean", 0) + x
    _smooth.mean = mean  # type: ignore[attr-defined]
    return mean * 2


class _OfAFunction(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return _smooth(x)


class _Held(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        h: torch.Tensor = self.get()
        self.put(0.5 * h + x)
        return h + x


def _in_thread_local() -> NodePolicy:
    held = threading.local()
    held.h = torch.zeros(3)
    return _Held(held=held, get=lambda: held.h, put=lambda h: setattr(held, "h", h))


_KEY = torch.nn.Identity()


def _in_weak_dict() -> NodePolicy:
    held = weakref.WeakKeyDictionary({_KEY: torch.zeros(3)})
    return _Held(held=held, get=lambda: held[_KEY], put=lambda h: held.__setitem__(_KEY, h))


class _ArrayOfTheInput(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        now = x.numpy()
        rate = np.zeros_like(now) if self.last is None else now - self.last
        self.last = now
        return torch.from_numpy(rate)


class _NumberThatLeaves(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.phase = np.float32(self.phase + np.float32(0.1))
        return x * float(np.sin(self.phase))


class _ArrayInSlots(NodePolicy):
    __slots__ = ("mean",)

    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = 0.5 * self.mean + x.numpy()
        return torch.from_numpy(self.mean) * 2


def _array_in_slots() -> NodePolicy:
    policy = _ArrayInSlots()
    policy.mean = np.zeros(3, np.float32)
    return policy


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (_array_in_slots(), "'policy.mean' was replaced"),
        (_Lazy(), "'policy.offset' was replaced"),
        (_Entry(parts={}), "'policy.parts['sum']' was replaced"),
        (_FromZero(mean=0.0), "'policy.mean' was replaced"),
        (_OfTheClass(), "'policy.mean' was replaced"),
        (_NoneOfTheClass(), "'policy.h' was replaced"),
        (_Default(), "'_Default.function()['seen']' was replaced"),
        (_OfAFunction(), "'_smooth.mean' was replaced"),
        (_in_thread_local(), "'policy.held['h']' was replaced"),
        (_in_weak_dict(), "'policy.held[<weakref"),
        (_ArrayOfTheInput(last=None), "'policy.last' was replaced"),
        (_NumberThatLeaves(phase=np.float32(0)), "'policy.phase' was replaced"),
    ],
)
def test_what_one_pass_cannot_show_is_named(
    bench: Workbench, policy: NodePolicy, text: str
) -> None:
    check_only_warning(bench, policy, text)


def test_a_command_that_is_not_declared_is_named_after_one_pass(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = x + self.command
            return result

        def step(self, x: torch.Tensor) -> torch.Tensor:
            self.command = torch.ones(3)
            return super().step(x)

    log = trace(bench, Policy(command=torch.zeros(3)))
    assert "uses 'policy.command', a tensor of shape [3] that was replaced during" in log


def test_intermediate_values_that_are_kept_are_no_state(bench: Workbench) -> None:
    class Policy(NodePolicy):
        features = torch.zeros(3)
        latest = None

        def function(self, x: torch.Tensor) -> torch.Tensor:
            self.features = self.latest = x * 2
            self.extras["norm"] = x.norm()
            return self.features + self.extras["norm"]

    assert "[WARNING]" not in trace(bench, Policy(extras={}))


def test_a_log_of_what_was_put_out_is_no_state(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        def step(self, x: torch.Tensor) -> torch.Tensor:
            y = super().step(x)
            self.log.append(y.clone())
            return y

    assert "[WARNING]" not in trace(bench, Policy(log=[]))


def test_a_cache_that_grows_is_not_named(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            if x.shape not in self.cache:
                self.cache[x.shape] = torch.arange(3.0)
            return x + self.cache[x.shape]

    assert "[WARNING]" not in trace(bench, Policy(cache={}), passes=2)
