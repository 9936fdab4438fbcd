"""Values that change are found in whatever holds them: slots, queues, partials, classes, enums."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import math
import queue
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, check_only_warning, trace


class _Ticks:
    def __init__(self) -> None:
        self.n = 0

    def read(self) -> int:
        self.n += 1
        return self.n


class _OfAnotherObject(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * min(1.0, 8 / self.ticks.read())


class _Popped(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(self.gains.pop(0))


class _Rotated(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        y = x * float(self.gains[0])
        self.gains.rotate(1)
        return y


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: _OfAnotherObject(ticks=_Ticks()), "'policy.ticks.n' went from 0 to 3"),
        (lambda: _Popped(gains=[2.0] * 8), "'policy.gains' went from length 8 to length 5"),
        (
            lambda: _Rotated(gains=collections.deque([1.0, 5.0, 1.0, 1.0, 1.0])),
            "'policy.gains[1]' went from 5.0 to 1.0",
        ),
    ],
)
def test_numbers_that_made_no_difference_yet_are_named(
    bench: Workbench, make: Any, name: str
) -> None:
    assert name in trace(bench, make(), passes=3)


class _Slotted:
    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0


class _OfAnything(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.ticks.n += 1
        return x * math.cos(self.ticks.n)


class _InPartial(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.gain.keywords["start"] *= 0.5
        return x * self.gain(())


def _counted(x: torch.Tensor) -> torch.Tensor:
    _counted.calls += 1  # type: ignore[attr-defined]
    return x * _counted.calls  # type: ignore[attr-defined,no-any-return]


_counted.calls = 0  # type: ignore[attr-defined]


class _InFunction(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return _counted(x)


class _InQueue(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(self.gains.get())


def _queue_of(*values: float) -> queue.Queue[float]:
    result: queue.Queue[float] = queue.Queue()
    for value in values:
        result.put(value)
    return result


class _BehindReference(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.ticks().read()


_referred = frozenset([_Ticks()])  # where nobody looks


class _OfTheClass(NodePolicy):
    gain = 1.0

    def function(self, x: torch.Tensor) -> torch.Tensor:
        _OfTheClass.gain *= 0.5
        return x * _OfTheClass.gain


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (_OfAnything(ticks=_Slotted()), "'policy.ticks.n' was 0"),
        (
            _InPartial(gain=functools.partial(math.prod, start=1.0)),
            "'policy.gain['start']' was 1.0",
        ),
        (_InFunction(), "'_counted.calls' was 0"),
        (_InQueue(gains=_queue_of(1.0, 2.0)), "'policy.gains[0]' was 1.0"),
        (_OfAnything(ticks=SimpleNamespace(n=0)), "'policy.ticks.n' was 0"),
        (_BehindReference(ticks=weakref.ref(*_referred)), "'policy.ticks.n' was 0"),
        (_OfTheClass(), "'_OfTheClass.gain' was 1.0"),
    ],
)
def test_what_one_pass_cannot_show_is_named(
    bench: Workbench, policy: NodePolicy, text: str
) -> None:
    check_only_warning(bench, policy, text)


#: As tensordict's are: with more functions than objects are looked at.
_Container = type("_Container", (), {f"method_{n}": lambda self: None for n in range(1500)})


class _InContainer(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.container.held["h"] = 0.5 * self.container.held["h"] + x
        return self.container.held["h"] * 2


def test_what_an_object_holds_is_looked_at_before_its_class(bench: Workbench) -> None:
    container = _Container()
    container.held = {"h": torch.zeros(3)}  # type: ignore[attr-defined]
    assert "'policy.container.held['h']' was" in trace(bench, _InContainer(container=container))


class _Mode(enum.Enum):
    STAND = 0
    WALK = 1
    RUN = 2


@dataclasses.dataclass(frozen=True)
class _Frozen:
    t: int = 0


class _Registry:
    seen: list[int] = []  # noqa: RUF012


class _Kinds(NodePolicy):
    shared = _Ticks()

    def function(self, x: torch.Tensor) -> torch.Tensor:
        self.mode = _Mode(self.mode.value + 1)
        self.name += "."
        self.pair = (self.pair[0] + 1, "x")
        self.frozen = dataclasses.replace(self.frozen, t=self.frozen.t + 1)
        self.last = [number + 1 for number in self.last]
        self.counts["n"] += 1
        self.seen.add(len(self.seen))
        _Registry.seen.append(1)
        self.made["n"] += 1
        used = self.mode, self.name, self.pair, self.frozen, self.last, self.counts["n"]
        lengths = len(self.seen), len(_Registry.seen), self.made["n"]
        return x * (2 if used is None or max(lengths) > 9 or self.shared.read() > 9 else 1)


def test_values_of_many_kinds_are_compared(bench: Workbench) -> None:
    given = {"mode": _Mode.STAND, "name": "stand", "pair": (0, "x"), "frozen": _Frozen()}
    containers: dict[str, Any] = {
        "last": [0, 0],
        "counts": collections.Counter(n=0),
        "seen": set[int](),
    }
    containers["made"] = collections.defaultdict(int)
    log = trace(bench, _Kinds(**given, **containers), passes=2)
    for text in (
        "'policy.mode' went from _Mode.STAND to _Mode.RUN",
        "'policy.name' went from 'stand' to 'stand..'",
        "'policy.pair' went from (0, \"'x'\") to (2, \"'x'\")",
        "'policy.frozen' went from (0,) to (2,)",
        "'policy.last' went from (0, 0) to (2, 2)",
        "'policy.counts['n']' went from 0 to 2",
        "'policy.seen' went from length 0 to length 2",
        "'_Kinds.shared.n' went from 0 to 2",
        "'_Registry.seen' went from length 0 to length 2",
        "'policy.made['n']' went from 1 to 2",
    ):
        assert text in log


class _Loading(dict[str, int]):
    """A registry that loads what it is asked for, as of models by their names."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("it was asked")

    keys = values = items = __len__ = __iter__  # type: ignore[assignment]


class _Growing(list[int]):
    def __iter__(self) -> Iterator[int]:
        raise AssertionError("it was asked")

    __len__ = __getitem__ = __iter__  # type: ignore[assignment]


class _Pretending:
    """A proxy, which says that it is a dict."""

    __class__ = property(lambda self: dict)  # type: ignore[assignment]


@pytest.mark.parametrize("value", [_Loading(a=1), _Growing([1, 2]), _Pretending()])
def test_containers_are_not_asked_for_what_they_hold(bench: Workbench, value: Any) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    assert "[WARNING]" not in trace(bench, Policy(value=value, values=[value]), passes=2)


def test_a_module_without_parameters_yet_is_passed_over(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    assert "[WARNING]" not in trace(bench, Policy(critic=torch.nn.LazyLinear(1)), passes=2)
