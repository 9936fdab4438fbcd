"""Real networks with random weights, exported in both formats and compared on new inputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Workbench

from leapp import annotate

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import networks


def outputs_of(model: Any, inputs: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    result = model(*inputs)
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", networks.NETWORKS)
def test_network(name: str, backend: str, bench: Workbench) -> None:
    model, inputs = networks.build(name)
    with bench.trace(), torch.no_grad():
        traced = annotate.input_tensors("net", {f"i{n}": x for n, x in enumerate(inputs)})
        results = outputs_of(model, traced if len(inputs) > 1 else (traced,))
        annotate.output_tensors(
            "net", {f"o{n}": y for n, y in enumerate(results)}, export_with=backend
        )
    assert bench.compile() == {"net": True}
    manager = bench.manager()
    torch.manual_seed(7)
    for _ in range(2):
        fresh = networks.NETWORKS[name].inputs()
        answers = manager.run_policy({f"net/i{n}": x for n, x in enumerate(fresh)})
        with torch.no_grad():
            expected = outputs_of(model, fresh)
        for n, value in enumerate(expected):
            torch.testing.assert_close(answers[f"net/o{n}"], value, rtol=1e-3, atol=1e-4)
    if backend == "onnx":
        import onnx

        onnx.checker.check_model(str(bench.path("g", "net.onnx")), full_check=True)


@pytest.mark.parametrize(
    ("name", "operator"), [("gru", "GRU"), ("lstm", "LSTM"), ("resnet18", "Conv"), ("mlp", "Gemm")]
)
def test_native_operators(name: str, operator: str, bench: Workbench) -> None:
    """If ONNX has an operator for it, the model uses that operator."""
    import onnx

    model, inputs = networks.build(name)
    with bench.trace(), torch.no_grad():
        x = annotate.input_tensors("net", {"x": inputs[0]})
        annotate.output_tensors("net", {"y": model(x)}, export_with="onnx")
    bench.compile()
    kinds = [node.op_type for node in onnx.load(bench.path("g", "net.onnx")).graph.node]
    assert operator in kinds
    if name in ("mlp", "resnet18"):
        assert "BatchNormalization" not in kinds or kinds.count("Conv") >= 20
        assert "Transpose" not in kinds
