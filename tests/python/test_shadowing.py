"""Annotations during a shadow run: reported to it, otherwise as without one."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import leapp._state

leapp._state.load()

from leapp import LeappError, _shadowing, _tracing  # noqa: E402


def test_values_go_back_although_they_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(_tracing, "input_tensors", lambda *given: seen.append(given))
    x = torch.ones(2)
    assert _shadowing.input_tensors("n", {"x": x}) is x
    assert seen == [("n", {"x": x})]


@pytest.mark.parametrize("error", [LeappError("odd"), TypeError("odd")])
def test_odd_payloads_are_not_reported_by_the_call(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(_tracing, "output_tensors", refuse)
    y = torch.ones(2)
    assert _shadowing.output_tensors("n", {"y": y}, None) is y


def test_an_interrupt_is_not_an_invalid_payload(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(_tracing, "input_tensors", interrupt)
    with pytest.raises(KeyboardInterrupt):
        _shadowing.input_tensors("n", {"x": torch.ones(2)})
