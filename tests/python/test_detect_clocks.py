"""Clocks that are read in a node, and what was said of one as data."""

from __future__ import annotations

import time
from time import monotonic

import torch
from conftest import Workbench
from node_policy import NodePolicy, trace

import leapp
from leapp import annotate


class _Clock(NodePolicy):
    def function(self, x: torch.Tensor) -> torch.Tensor:
        return x * (0.0 * time.time() + 1.0)


def test_a_clock_is_named_when_only_one_pass_was_traced(bench: Workbench) -> None:
    assert "time.time() is read while node 'node' is open" in trace(bench, _Clock())
    assert "time.time()" not in trace(bench, _Clock(), passes=2)


def test_a_clock_that_is_chosen_by_is_named_after_any_number_of_passes(bench: Workbench) -> None:
    class Policy(NodePolicy):
        def function(self, x: torch.Tensor) -> torch.Tensor:
            return -x if monotonic() > self.end else x

        def step(self, x: torch.Tensor) -> torch.Tensor:
            x = annotate.input_tensors("node", {"x": x})
            y: torch.Tensor = annotate.output_tensors(
                "node", {"y": self.function(x)}, export_with="jit"
            )
            return y

    log = trace(bench, Policy(end=1e9), passes=2)
    assert "time.monotonic() is read while node 'node' is open, and the program chooses" in log


def test_what_was_said_is_there_as_data(bench: Workbench) -> None:
    trace(bench, _Clock())
    (said,) = leapp.diagnostics()
    assert (said.code, said.level, said.node) == ("LP216", "WARNING", "node")
    assert said.where.startswith(__file__)
    assert said.text.startswith("time.time() is read")
    assert said.settled_by_another_pass
    leapp.start("g", save_path=str(bench.folder))
    assert leapp.diagnostics() == []
    leapp.stop()
