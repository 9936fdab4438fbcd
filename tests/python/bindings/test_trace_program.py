"""The frames of the program, from the caller outwards."""

from __future__ import annotations

import functools
from typing import Any

import torch

from leapp import _trace


class Policy:
    def read(self) -> list[dict[str, Any]]:
        return own_frames()

    def deeper(self, levels: int) -> list[dict[str, Any]]:
        return self.deeper(levels - 1) if levels else self.read()


def own_frames() -> list[dict[str, Any]]:
    """Return the variables of the functions of this file that lead to the caller."""
    return [dict(local) for variables, local in _trace.frames() if variables is globals()][1:]


def test_frames_begin_with_the_caller() -> None:
    policy = Policy()
    inner, outer = policy.read()[:2]
    assert inner == {"self": policy}
    assert outer == {"policy": policy}


def test_frames_of_libraries_are_left_out() -> None:
    read: list[list[dict[str, Any]]] = []

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            read.append(own_frames())
            return x

    outermost = torch.nn.Sequential(Net())
    functools.reduce(lambda x, net: net(x), [outermost], torch.ones(1))
    names = [set(frame) for frame in read[0]]
    assert names[0] == {"self", "x", "read"}
    assert names[1] == {"x", "net"}
    assert "outermost" in names[2]
    assert not any("args" in each or "kwargs" in each for each in names[:3])


def test_a_repeated_call_of_one_object_is_listed_once() -> None:
    policy = Policy()
    found = policy.deeper(3)
    depths = [frame["levels"] for frame in found if "levels" in frame]
    assert depths == [0, 1, 2, 3]


def test_the_number_of_frames_is_bounded() -> None:
    policy = Policy()
    assert len(policy.deeper(100)) < 16
    assert [frame.get("levels") for frame in policy.deeper(100)][1:4] == [0, 1, 2]


def test_the_front_end_forgets_frames_of_the_last_session() -> None:
    def begin() -> list[Any]:
        return [local for variables, local in _trace.begin_frames() if variables is globals()]

    first, second = begin(), begin()
    assert [dict(local).keys() for local in first] == [dict(local).keys() for local in second]
    assert "begin" in dict(first[1])
