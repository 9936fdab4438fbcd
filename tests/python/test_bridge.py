"""PyTorch's own exporters: what is missing for them, and how their failures are reported."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch

from leapp import LeappError, _bridge


@pytest.fixture
def script(tmp_path: Path) -> str:
    class Double(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    path = tmp_path / "double.pt"
    torch.jit.script(Double()).save(str(path))  # type: ignore[no-untyped-call]
    return str(path)


def write(script: str, file: Path, backend: str = "pt2") -> None:
    _bridge.export(backend, script, [("x", "float32", [2], "cpu")], ["y"], str(file), {})


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> Any:
        return None if name == "onnxscript" else object()

    monkeypatch.setattr(importlib.util, "find_spec", find)
    assert _bridge.missing("onnx-dynamo") == "onnxscript"
    assert _bridge.missing("pt2") == ""


def test_a_program_runs_as_it_was_exported(script: str, tmp_path: Path) -> None:
    file = tmp_path / "double.pt2"
    write(script, file)
    (result,) = _bridge.replay(str(file), [torch.ones(2)])
    assert result.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("error", "code"),
    [(ImportError("no onnxscript"), "LP006"), (OSError("full"), "LP005"), (TypeError(), "LP502")],
)
def test_failures_have_codes(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
) -> None:
    def fail(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(torch.jit, "load", fail)
    with pytest.raises(LeappError) as caught:
        write(script, tmp_path / "double.pt2")
    assert caught.value.code == code


def test_an_interrupt_is_not_a_failure(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(torch.jit, "load", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(script, tmp_path / "double.pt2")
