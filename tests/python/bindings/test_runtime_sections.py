"""The sections of a bundle's YAML as Python values, and results of verify()."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import small_bundles
import torch
import yaml
from conftest import Workbench, refused

import leapp
from leapp import annotate


def load(path: Path, change: Any = None) -> tuple[leapp.InferenceManager, dict[str, Any]]:
    """Change the document of a bundle; return its manager and the document."""
    document = yaml.safe_load(path.read_text())
    if change is not None:
        change(document)
        path.write_text(yaml.safe_dump(document, sort_keys=False))
    return leapp.InferenceManager(path, array="numpy"), document


def test_models_are_as_in_the_file(tmp_path: Path) -> None:
    manager, document = load(small_bundles.affine(tmp_path))
    [model] = manager.models.values()
    expected = document["models"]["n"]
    assert model["inputs"] == expected["inputs"]
    assert model["outputs"] == expected["outputs"]
    assert model["parameters"] == expected["parameters"]
    assert type(model["parameters"]["opset_version"]) is int


def test_values_of_additional_keys_keep_their_types(tmp_path: Path) -> None:
    extra = {
        "unit": "rad",
        "gain": 2.5,
        "count": 3,
        "is_absolute": True,
        "nothing": None,
        "nested": {"list": [1, [2.5, "a"], {}], "empty": []},
    }
    manager, _ = load(
        small_bundles.affine(tmp_path),
        lambda document: document["models"]["n"]["inputs"][0].update(extra),
    )
    port = manager.models["n"]["inputs"][0]
    found = {key: port[key] for key in extra}
    assert found == extra
    assert [type(each) for each in found.values()] == [type(each) for each in extra.values()]


def test_axes_of_time_and_without_names(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        port = document["models"]["n"]["inputs"][0]
        port.update(element_names=["__temporal_axis__", None], temporal_period_ms=20.0)

    manager, _ = load(small_bundles.affine(tmp_path), change)
    port = manager.models["n"]["inputs"][0]
    assert port["element_names"] == ["__temporal_axis__", None]
    assert port["temporal_period_ms"] == 20.0
    assert "temporal_period_ms" not in manager.models["n"]["outputs"][0]


def test_the_pipeline(tmp_path: Path) -> None:
    manager, document = load(small_bundles.recurrent(tmp_path))
    assert manager.pipeline == document["pipeline"]
    for absent in ("configs", "golden", "initial_values", "merged", "schedule"):
        assert absent not in manager.pipeline
    manager, document = load(small_bundles.affine(tmp_path))
    assert manager.pipeline["configs"] == {"frequency": 50}


def test_a_schedule_has_only_what_differs_from_every_tick(bench: Workbench) -> None:
    with bench.trace():
        for tick in range(8):
            if tick % 4 == 0:
                goal = annotate.input_tensors("plan", {"goal": torch.ones(2)})
                plan = annotate.output_tensors("plan", {"plan": goal * 2}, export_with="onnx")
            x, seen = annotate.input_tensors("act", {"x": torch.ones(2), "plan": plan})
            annotate.output_tensors("act", {"y": x + seen}, export_with="onnx")
    bench.compile()
    assert bench.manager().pipeline["schedule"] == {"plan": {"every": 4}}


def test_the_system(tmp_path: Path) -> None:
    expected = {
        "cuda version": "None",
        "leapp config version": "1.3",
        "leapp version": "None",
        "os": "None",
        "python version": "None",
        "torch version": "None",
    }
    manager, document = load(small_bundles.affine(tmp_path))
    assert manager.system_info == expected
    named = {**expected, "os": "Linux", "python version": "3.12"}
    document["system information"] = named
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    assert load(tmp_path / "test.yaml")[0].system_info == named


@pytest.mark.parametrize("section", ["models", "pipeline", "system_info"])
def test_sections_are_converted_once(tmp_path: Path, section: str) -> None:
    manager, _ = load(small_bundles.affine(tmp_path))
    assert getattr(manager, section) is getattr(manager, section)
    with pytest.raises(AttributeError):
        setattr(manager, section, {})


def test_verification_needs_golden_ticks(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    bench.compile(golden=1)
    data, text = bench.manager()._verify()
    assert type(text) is str and json.loads(data)["ok"] is True
    assert json.loads(data)["ticks"] == 1
    with refused("LP942"):
        leapp.InferenceManager(small_bundles.affine(bench.folder / "plain"))._verify()
