"""The report of a validation as data: validation.json and the result of compile_graph."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import annotate


def traced(bench: Workbench, passes: int = 3) -> None:
    with torch.no_grad(), bench.trace():
        for i in range(passes):
            x = annotate.input_tensors("pi", {"x": torch.full((2, 3), float(i + 1))})
            annotate.output_tensors("pi", {"y": x * 2, "z": x.log()}, export_with="onnx")


def baked(bench: Workbench) -> None:
    with bench.trace():
        for scale in (1.0, 2.0):
            x = annotate.input_tensors("pi", {"x": scale * torch.ones(3)})
            annotate.output_tensors("pi", {"y": x * x.sum().item()}, export_with="onnx")


def read(bench: Workbench) -> Any:
    return json.loads(bench.path("g", "validation.json").read_text())


def test_every_sample_and_output_has_every_figure(bench: Workbench) -> None:
    traced(bench)
    results = bench.compile()
    assert results == {"pi": True}
    report = read(bench)
    assert results.report == report
    assert report["passed"] and (report["rtol"], report["atol"]) == (1e-3, 1e-5)
    assert report["summary"] == {"passed": 1, "failed": 0, "errored": 0, "not_compared": 0}
    yaml = bench.path("g", "g.yaml").read_bytes()
    assert report["yaml_sha256sum"] == hashlib.sha256(yaml).hexdigest()
    (node,) = report["nodes"]
    assert [sample["label"] for sample in node["samples"]] == ["sample 0", "sample 1", "sample 2"]
    for i, sample in enumerate(node["samples"]):
        y, z = sample["outputs"]
        assert (y["name"], z["name"]) == ("y", "z")
        for side in (y["source"], y["exported"]):
            assert side == {
                "dtype": "float32", "shape": [2, 3], "min": 2 * (i + 1), "max": 2 * (i + 1),
                "nan": 0, "nan_percent": 0, "inf": 0, "inf_percent": 0,
            }  # fmt: skip
        keys = ["compared", "max", "mean", "p50", "p75", "p90", "p99", "p995", "worst"]
        assert list(y["difference"]) == keys


def test_a_failure_is_there_too_and_is_not_the_bundle_s(bench: Workbench) -> None:
    traced(bench)
    bench.compile()
    yaml = bench.path("g", "g.yaml").read_bytes()
    baked(bench)
    with pytest.raises(leapp.LeappValidationError):
        bench.compile()
    report = read(bench)
    assert not report["passed"] and report["summary"]["failed"] == 1
    output = report["nodes"][0]["samples"][1]["outputs"][0]
    assert output["verdict"] == "values" and output["mismatched"] == 3
    assert output["difference"]["max"] == pytest.approx(6)
    assert report["yaml_sha256sum"] != hashlib.sha256(yaml).hexdigest()


def test_without_validation_there_is_none(bench: Workbench) -> None:
    traced(bench)
    bench.compile()
    bench.compile(validate=False)
    assert not bench.path("g", "validation.json").exists()


def test_a_dry_run_has_an_empty_one(bench: Workbench) -> None:
    with bench.trace(dry_run=True):
        x = annotate.input_tensors("pi", {"x": torch.ones(2)})
        annotate.output_tensors("pi", {"y": x * 2}, export_with="onnx")
    results = bench.compile()
    assert results == {"pi": True} and results.report == {}


def test_the_log_has_its_words(bench: Workbench) -> None:
    baked(bench)
    bench.compile(strict=False)
    log = bench.log()
    for words in (
        "source:   shape [3], dtype float32",
        "exported: shape [3], dtype float32",
        "p995=",
    ):
        assert words in log, log
