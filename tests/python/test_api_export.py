"""Export features of Python: PyTorch's own exporters, and the names of weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused
from torch import nn

from leapp import _bridge, annotate


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(3, 4)
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.head(self.encoder(x)) * torch.tensor([2.0, 3.0])
        return result


@pytest.fixture
def script(tmp_path: Path) -> str:
    torch.jit.trace(Net().eval(), torch.ones(1, 3)).save(tmp_path / "net.pt")  # type: ignore[no-untyped-call]
    return str(tmp_path / "net.pt")


INPUTS = [("obs.raw", "float32", [1, 3], "cpu")]


@pytest.mark.parametrize("backend", ["pt2", "exported-program"])
def test_exported_program_computes_the_same(script: str, tmp_path: Path, backend: str) -> None:
    file = str(tmp_path / "net.pt2")
    _bridge.export(backend, script, INPUTS, ["y"], file, {})
    program = torch.export.load(file)
    x = torch.randn(1, 3)
    torch.testing.assert_close(program.module()(x), torch.jit.load(script)(x))  # type: ignore[no-untyped-call]
    assert {"encoder_weight", "head_1_bias"} <= set(program.state_dict)


@pytest.mark.parametrize("backend", ["onnx-torchscript", "onnx-dynamo"])
def test_onnx_keeps_the_ports_and_the_opset(script: str, tmp_path: Path, backend: str) -> None:
    onnx = pytest.importorskip("onnx")
    if backend == "onnx-dynamo":
        pytest.importorskip("onnxscript", reason="the extra for onnx-dynamo is not installed")
    file = str(tmp_path / "net.onnx")
    _bridge.export(backend, script, INPUTS, ["y"], file, {"opset_version": 18})
    model = onnx.load(file)
    assert [port.name for port in model.graph.input] == ["obs.raw"]
    assert [port.name for port in model.graph.output] == ["y"]
    assert model.opset_import[0].version == 18


def test_missing_package_is_named(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def export(*args: Any, **options: Any) -> None:
        raise ModuleNotFoundError("No module named 'onnxscript'")

    monkeypatch.setattr(torch.onnx, "export", export)
    with refused("LP006"):
        _bridge.export("onnx-dynamo", script, INPUTS, ["y"], str(tmp_path / "n.onnx"), {})


def test_full_disk_is_an_error(script: str) -> None:
    with refused("LP005"):
        _bridge.export("pt2", script, INPUTS, ["y"], "/dev/full", {})


def test_exporter_that_fails_is_named(tmp_path: Path) -> None:
    with refused("LP502", "'pt2'"):
        _bridge.export("pt2", str(tmp_path / "none.pt"), INPUTS, ["y"], str(tmp_path / "n.pt2"), {})


def weights(bench: Workbench) -> list[str]:
    module: Any = torch.jit.load(str(bench.path("g", "n.pt")))  # type: ignore[no-untyped-call]
    return [name for name, _ in module.named_buffers()]


NAMES = ["encoder_weight", "encoder_bias", "head_1_weight", "head_1_bias"]


def test_weights_keep_the_names_of_a_local_module(bench: Workbench) -> None:
    net = Net().eval()
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(1, 3)})
        annotate.output_tensors("n", {"y": net(x)}, export_with="jit")
    bench.compile()
    assert set(NAMES) <= set(weights(bench))


def test_weights_keep_the_names_of_a_module_inside_an_object(bench: Workbench) -> None:
    class Runner:
        def __init__(self) -> None:
            self.parts = {"policy": [Net().eval()]}

        def run(self) -> None:
            x = annotate.input_tensors("n", {"x": torch.ones(1, 3)})
            annotate.output_tensors("n", {"y": self.parts["policy"][0](x)}, export_with="jit")

    runner = Runner()
    with bench.trace():
        runner.run()
    bench.compile()
    assert set(NAMES) <= set(weights(bench))


def test_weights_keep_the_names_of_a_decorated_module(bench: Workbench) -> None:
    class Decorated(Net):
        @annotate.method(node_name="n", export_with="jit")
        def act(self, x: torch.Tensor) -> torch.Tensor:
            return self(x)

    keep = {Decorated().eval(): None}  # not in a place that is searched
    with bench.trace():
        next(iter(keep)).act(torch.ones(1, 3))
    bench.compile()
    assert set(NAMES) <= set(weights(bench))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_least_precise_type_decides_the_tolerance(
    bench: Workbench, backend: str, dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    layers = [nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 16), nn.ELU(), nn.Linear(16, 2)]
    net = nn.Sequential(*layers).to(dtype)
    with bench.trace(), torch.no_grad():
        for _ in range(3):
            x = annotate.input_tensors("n", {"x": torch.randn(1, 4).to(dtype)})
            annotate.output_tensors("n", {"y": net(x).float()}, export_with=backend)
    bench.compile()
    name = str(dtype).removeprefix("torch.")
    assert f"n/y was computed in {name}, and compared with rtol=" in bench.log()


def test_an_impure_operator_is_named_without_pytorchs_advice(bench: Workbench) -> None:
    with bench.trace(), torch.autograd.forward_ad.dual_level():
        x = annotate.input_tensors("n", {"x": torch.rand(2, 5, 3)})
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
        y = torch.autograd.forward_ad.unpack_dual(dual * 2).primal
        annotate.output_tensors("n", {"y": y}, export_with="onnx")
    with refused("LP501") as caught:
        bench.compile()
    assert "custom kernel" not in str(caught.value)
    assert "test_api_export.py:" in str(caught.value)


class Leaky(nn.Module):
    """A buffer that is replaced, and one in a nested module."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.inner = nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = 0.5 * self.mean + x
        return self.mean - self.inner.running_mean


def test_buffers_of_a_script_module_are_state(bench: Workbench, backend: str) -> None:
    module = torch.jit.script(Leaky().eval())
    with bench.trace(), torch.no_grad():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        annotate.module("n", module)
        annotate.output_tensors("n", {"y": module(x)}, export_with=backend)
    bench.compile()
    manager = bench.manager(array="numpy")
    ones = np.ones(3, np.float32)
    assert [float(manager.run_policy({"n/x": ones})["n/y"][0]) for _ in range(2)] == [1.0, 1.5]
