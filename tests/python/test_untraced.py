"""Annotations while no session is tracing: payloads are checked, and returned unchanged."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from leapp import LeappError, TensorSemantics, _untraced

X, Y = torch.ones(2), torch.zeros(2)


@pytest.mark.parametrize(
    ("payload", "given_back"),
    [
        ({"x": X}, X),
        ({"x": X, "y": Y}, (X, Y)),
        ({"a": {"x": X}}, {"x": X}),
        (TensorSemantics("x", X), X),
        ([TensorSemantics("x", X)], X),
        ([TensorSemantics("x", X), TensorSemantics("y", Y)], (X, Y)),
    ],
)
def test_values_go_back(payload: Any, given_back: Any) -> None:
    found = _untraced.input_tensors("n", payload)
    if isinstance(given_back, tuple):
        assert [id(each) for each in found] == [id(each) for each in given_back]
    elif isinstance(given_back, dict):
        assert found == given_back
    else:
        assert found is given_back


@pytest.mark.parametrize("payload", [X, [X], 3, {"x": TensorSemantics("x", X)}])
def test_wrong_forms_are_refused_as_in_a_session(payload: Any) -> None:
    for call in (_untraced.input_tensors, lambda *given: _untraced.output_tensors(*given, None)):
        with pytest.raises(LeappError) as caught:
            call("n", payload)
        assert caught.value.code == "LP120"


def test_static_outputs_are_checked_too() -> None:
    with pytest.raises(LeappError) as caught:
        _untraced.output_tensors("n", {"y": Y}, X)
    assert caught.value.code == "LP120"
