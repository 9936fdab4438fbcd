"""Programs written for NVIDIA's leapp: their expectations of exported models."""

from __future__ import annotations

from typing import Any

import onnxruntime
import pytest
import torch
from affine_stage import affine, stage
from conftest import Workbench

from leapp import annotate


class TestModelFiles:
    @pytest.mark.parametrize("export_with", ["jit", "jit-script", "jit-trace", "pt2"])
    def test_one_output_is_a_tensor(self, bench: Workbench, export_with: str) -> None:
        with bench.trace():
            stage(torch.ones(2), export_with=export_with)
        assert bench.compile() == {"n": True}
        load: Any = torch.jit.load
        if export_with == "pt2":
            model = torch.export.load(bench.path("g", "n.pt2")).module()
        else:
            model = load(bench.path("g", "n.pt"))
        x = torch.randn(2)
        result = model(x)
        assert isinstance(result, torch.Tensor)
        assert torch.equal(result, affine(x))
        assert torch.equal(bench.manager()({"n/x": x})["n/y"], affine(x))

    @pytest.mark.parametrize("export_with", ["jit", "onnx", "onnx-torchscript", "pt2", None])
    def test_outputs_then_state_then_static_outputs(
        self, bench: Workbench, export_with: str | None
    ) -> None:
        counter = torch.zeros(1)
        with bench.trace():
            for _ in range(2):
                x = annotate.input_tensors("n", {"x": torch.randn(2)})
                h = annotate.state_tensors("n", {"h": torch.zeros(2)})
                annotate.update_state("n", {"h": h + x})
                if export_with is not None:
                    counter += 1  # inferred
                static = {"gain": torch.tensor([2.0]), "bias": torch.tensor([3.0])}
                outputs = {"y": x * 2 + h + counter, "z": x - 1}
                annotate.output_tensors(
                    "n", outputs, static_outputs=static, export_with=export_with
                )
        assert bench.compile() == {"n": True}
        ports = bench.yaml()["models"]["n"]["outputs"]
        names = [port["name"].removesuffix("_out") for port in ports]
        assert names[:3] + names[-2:] == ["y", "z", "h", "gain", "bias"]
        assert len(names) == (5 if export_with is None else 6)
        if export_with is not None:
            out = bench.manager()({"n/x": torch.ones(2)})
            assert (out["n/gain"].item(), out["n/bias"].item()) == (2, 3)

    def test_nodes_without_a_model_drop_inputs_that_reach_nothing(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with bench.trace():
            inputs = {"x": torch.ones(2), "idle": torch.ones(2), "kept": torch.ones(2)}
            x, idle, kept = annotate.input_tensors("n", inputs)
            idle * 2
            h = annotate.state_tensors("n", {"h": torch.zeros(2)})
            annotate.update_state("n", {"h": h + kept})
            annotate.output_tensors("n", {"y": affine(x)}, export_with=None)
        bench.compile()
        yaml = bench.yaml()
        assert [port["name"] for port in yaml["models"]["n"]["inputs"]] == ["x", "kept", "h"]
        assert yaml["pipeline"]["inputs"] == {"n": ["x", "kept"]}
        assert "input 'idle' of node 'n' does not reach any output" in capfd.readouterr().err

    def test_a_model_of_ones_own_by_its_backend(self, bench: Workbench) -> None:
        script: Any = torch.jit.script
        file = bench.path("policy.torchscript")
        script(affine).save(str(file))
        with bench.trace():
            inputs = {"x": torch.ones(2), "idle": torch.ones(2)}
            x = annotate.input_tensors("n", inputs)[0]
            params = {"model_path": str(file), "backend": "jit"}
            annotate.output_tensors("n", {"y": affine(x)}, export_with=None, backend_params=params)
        assert bench.compile() == {"n": True}
        assert bench.yaml()["models"]["n"]["parameters"]["backend"] == "jit"
        assert bench.manager()({"n/x": torch.ones(2)})["n/y"].tolist() == [3, 3]

    def test_the_keys_that_the_others_yaml_has(self, bench: Workbench) -> None:
        with bench.trace():
            stage(torch.ones(2), "a", export_with="jit")
            stage(torch.ones(2), "b", export_with=None)
        bench.compile()
        yaml = bench.yaml()
        assert [m["parameters"]["warp_segments"] for m in yaml["models"].values()] == [0, 0]
        assert yaml["system information"]["warp version"] is None

    def test_unused_outputs(self, bench: Workbench) -> None:
        with bench.trace():
            stage(torch.ones(2), export_with="jit")
        bench.compile()
        file = bench.path("g", "g.yaml")
        file.write_text(file.read_text().replace("  outputs:\n    n: [y]", "  outputs: {}"))
        with pytest.raises(ValueError, match="node 'n' has unroutable outputs: 'y'"):
            bench.manager()


class TestOnnxByTorchScript:
    """In-place writes become operators that PyTorch's exporter does not know."""

    def check(self, bench: Workbench, *inputs: torch.Tensor) -> None:
        assert bench.compile() == {"n": True}
        assert bench.yaml()["models"]["n"]["parameters"]["backend"] == "onnx"
        file = str(bench.path("g", "n.onnx"))
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        assert session.get_outputs()

    @pytest.mark.parametrize(
        "write",
        [
            lambda y, x: y[1].copy_(x[0]),
            lambda y, x: y[:, 1:3].add_(x[:, :2]),
            lambda y, x: y[:, ::2].mul_(2),
            lambda y, x: y[..., -1].fill_(7),
            lambda y, x: y[0, 2].zero_(),
            lambda y, x: y.diagonal().copy_(x[:, 0]),
            lambda y, x: y.diagonal(1).mul_(2),
            lambda y, x: y.fill_diagonal_(5.0),
            lambda y, x: y.unfold(1, 2, 2).mul_(2),
            lambda y, x: y.unfold(1, 2, 2)[:, 0].copy_(x[:, 2:]),
            lambda y, x: y.as_strided((2, 2), (4, 1), 1).add_(x[:2, :2]),
            lambda y, x: y.T[1].copy_(x[:, 2]),
            lambda y, x: y.view(-1)[3:6].sub_(1),
            lambda y, x: y[1:][:, 2:].copy_(x[1:, 2:]),
        ],
    )
    def test_writes_into_a_part(self, bench: Workbench, write: Any) -> None:
        with bench.trace():
            for _ in range(2):
                x = annotate.input_tensors("n", {"x": torch.randn(3, 4)})
                y = x.clone()
                write(y, x * 3)
                annotate.output_tensors("n", {"y": y}, export_with="onnx-torchscript")
        self.check(bench)

    @pytest.mark.parametrize(
        "part",
        [
            lambda x: x[1],
            lambda x: x[:, 1:3],
            lambda x: x.diagonal(1),
            lambda x: x.unfold(1, 2, 1),
            lambda x: x.as_strided((2, 2), (4, 1), 1),
            lambda x: torch.diagonal_copy(x),
            lambda x: torch.slice_copy(x, 1, 1, 3),
        ],
    )
    def test_derivatives_of_a_part(self, bench: Workbench, part: Any) -> None:
        with bench.trace(), torch.enable_grad():
            for _ in range(2):
                x = annotate.input_tensors("n", {"x": torch.randn(3, 4)})
                leaf = x.detach().requires_grad_()
                (slope,) = torch.autograd.grad(part(leaf).square().sum(), leaf)
                annotate.output_tensors("n", {"y": slope}, export_with="onnx-torchscript")
        self.check(bench)

    @pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.bool, torch.float16])
    def test_casts(self, bench: Workbench, dtype: torch.dtype) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.randn(3)})
            y = x.to(dtype).to(torch.float32) + x.long().float()
            annotate.output_tensors("n", {"y": y}, export_with="onnx-torchscript")
        self.check(bench)

    def test_buffers_that_are_written(self, bench: Workbench) -> None:
        class History(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("ring", torch.zeros(3, 2))
                self.register_buffer("steps", torch.zeros(1, dtype=torch.int64))

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                self.ring[:-1] = self.ring[1:].clone()
                self.ring[-1] = x
                self.steps += 1
                return self.ring.mean(0) * self.steps

        history = History()
        with bench.trace():
            for _ in range(3):
                x = annotate.input_tensors("n", {"x": torch.randn(2)})
                annotate.module("n", history)
                annotate.output_tensors("n", {"y": history(x)}, export_with="onnx-torchscript")
        self.check(bench)
        manager, twin = bench.manager(), History()
        for _ in range(4):
            x = torch.randn(2)
            torch.testing.assert_close(manager({"n/x": x})["n/y"], twin(x))
