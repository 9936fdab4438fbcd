"""The class Shadow: its options, its report, and one run at a time."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import _trace, annotate

X = torch.ones(2)


def step(factor: float) -> None:
    x = annotate.input_tensors("n", {"x": X})
    annotate.output_tensors("n", {"y": x * factor}, export_with="jit")


@pytest.fixture
def bundle(bench: Workbench) -> str:
    with bench.trace():
        step(2)
    bench.compile()
    return str(bench.path("g", "g.yaml"))


def test_the_report_is_json_and_text(bundle: str) -> None:
    with leapp.shadow(bundle) as run:
        step(2)
        data, text = run._run.report()
    report = json.loads(data)
    assert type(data) is type(text) is str
    assert report["passed"] is True and report["unknown"] == []
    assert [(node["node"], node["ticks"], node["differing"]) for node in report["nodes"]] == [
        ("n", 1, 0)
    ]


@pytest.mark.parametrize(
    ("rtol", "atol", "passed"),
    [(0.0, 0.0, False), (0.5, 0.0, True), (0.0, 1.5, True), (0.01, 0.01, False)],
)
def test_tolerances(bundle: str, rtol: float, atol: float, passed: bool) -> None:
    with leapp.shadow(bundle, rtol=rtol, atol=atol) as run:
        step(3)
    assert run.report().passed is passed
    assert run.report().nodes["n"].differing == int(not passed)


def test_it_ends_when_it_is_released(bundle: str) -> None:
    first = _trace.Shadow(bundle, 0.0, 0.0, False, False)
    with refused("LP946"):
        _trace.Shadow(bundle, 0.0, 0.0, False, False)
    del first
    gc.collect()
    second = _trace.Shadow(bundle, 0.0, 0.0, False, False)
    second.reset()
    second.stop()
    second.stop()
    third = _trace.Shadow(bundle, 0.0, 0.0, False, False)
    assert json.loads(third.report()[0])["nodes"][0]["ticks"] == 0
    assert json.loads(second.report()[0])["nodes"][0]["ticks"] == 0


def test_models_outside_the_directory_need_permission(bundle: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = elsewhere / "g.yaml"
    path = Path(bundle)
    moved.write_text(path.read_text().replace("model_path: n.pt", "model_path: ../g/n.pt"))
    with refused("B14"):
        _trace.Shadow(str(moved), 0.0, 0.0, False, False)
    shadow = _trace.Shadow(str(moved), 0.0, 0.0, False, True)
    shadow.stop()
    assert json.loads(shadow.report()[0])["unknown"] == []


def test_mistakes(bundle: str) -> None:
    with pytest.raises(leapp.errors.LeappNotFoundError):
        _trace.Shadow(bundle + "x.yaml", 0.0, 0.0, False, False)
    for arguments in ((3, 0.0, 0.0), (bundle, "0", 0.0), (bundle, 0.0, None)):
        with pytest.raises(TypeError):
            _trace.Shadow(*arguments, False, False)  # type: ignore[arg-type]
    _trace.Shadow(bundle, 0.0, 0.0, False, False).stop()
