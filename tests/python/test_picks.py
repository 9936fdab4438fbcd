"""Elements selected by a number of the graph, ``ring[head]``, behave as views."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, trace

from leapp import annotate


class _Ring(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        head = annotate.state_tensors("node", {"head": self.head})
        self.write(self.ring, head, x)
        self.head = annotate.update_state("node", {"head": (head + 1) % 3})
        return self.ring.sum(0)


def _ring(write: Any) -> _Ring:
    return _Ring(ring=torch.zeros(3, 3), head=torch.tensor(0), write=write)


def _put_back(ring: torch.Tensor, head: torch.Tensor, x: torch.Tensor) -> None:
    ring[head] = x
    ring[head] += 1


def _write_through(ring: torch.Tensor, head: torch.Tensor, x: torch.Tensor) -> None:
    ring[head].copy_(x)
    row = ring[head]
    row[1:] = 2 * x[1:]


def _read_later(ring: torch.Tensor, head: torch.Tensor, x: torch.Tensor) -> None:
    row = ring[head]
    ring[head] = x
    ring[(head + 1) % 3] = row + 1


def _put_elsewhere(ring: torch.Tensor, head: torch.Tensor, x: torch.Tensor) -> None:
    row = ring[head]
    row += x
    ring[head - 1] = row


@pytest.mark.parametrize("write", [_put_back, _write_through, _read_later, _put_elsewhere])
def test_a_chosen_element_behaves_as_the_view_it_is(bench: Workbench, write: Any) -> None:
    trace(bench, _ring(write), passes=2)
    plain, robot = _ring(write), bench.manager()
    for _ in range(5):
        x = torch.randn(3)
        torch.testing.assert_close(robot({"node/x": x})["node/y"], plain.step(x))
