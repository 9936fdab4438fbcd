"""Values that leave the graph and come back: from another thread, out of a pickle."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from conftest import Workbench
from node_policy import NodePolicy, only_warning, trace


def test_a_copy_is_no_pickle(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = copy.copy(x) * 2
            return result

    assert "[WARNING]" not in trace(bench, Policy(), passes=2)


class _Thread(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        with ThreadPoolExecutor(1) as threads:
            return x + sum(threads.map(torch.tanh, [x, x]))


class _Pickled(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        copied: torch.Tensor = pickle.loads(pickle.dumps(x))
        return x + copied


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (_Thread(), "a tensor comes from another thread"),
        (_Pickled(), "Pickling takes a traced value out of the graph"),
    ],
)
def test_what_one_pass_cannot_show_is_named(
    bench: Workbench, policy: NodePolicy, text: str
) -> None:
    line = only_warning(bench, policy)
    assert text in line
    assert line.startswith("[WARNING]: " + __file__)
