"""The ``annotate`` object while no session is tracing: it returns its arguments."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from leapp import LeappError, annotate

X = torch.ones(2)


def test_values_go_back() -> None:
    assert annotate.input_tensors("n", {"x": X}) is X
    assert annotate.output_tensors("n", {"y": X}, export_with="no such backend") is X
    assert annotate.state_tensors("n", {"h": X}) is X
    assert annotate.update_state("n", {"h": X}) is X
    assert annotate.mirror_leapp_tags(X, X) is X
    annotate.abandon("n")


def test_buffers_need_no_names() -> None:
    assert annotate.register_buffer("n", X) is X
    first, second = annotate.register_buffer("n", [X, X * 2])
    assert first is X and second.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("model", [3, torch.nn.Linear, None])
def test_module_takes_modules(model: Any) -> None:
    with pytest.raises(LeappError) as caught:
        annotate.module("n", model)
    assert caught.value.code == "LP002"


class Policy:
    @annotate.method
    def step(self, x: torch.Tensor) -> torch.Tensor:
        """Return twice as much."""
        return x * 2

    @annotate.method(node_name="half", unknown=True)
    @staticmethod
    def half(x: torch.Tensor) -> torch.Tensor:
        return x / 2

    @annotate.method()
    @classmethod
    def name(cls, x: torch.Tensor) -> tuple[str, torch.Tensor]:
        return cls.__name__, x


def test_decorated_functions_are_called_as_they_are() -> None:
    assert Policy().step(X).tolist() == [2.0, 2.0]
    assert Policy.half(X).tolist() == [0.5, 0.5]
    assert Policy.name(X)[0] == "Policy"
    assert Policy.step.__doc__ == "Return twice as much."


def test_only_functions_can_be_decorated() -> None:
    with pytest.raises(LeappError) as caught:
        annotate.method(3)  # type: ignore[call-overload]
    assert caught.value.code == "LP002"
