"""ONNX files: names, weights, external data; models of the user; custom converters."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from conftest import Workbench, refused
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

import leapp
from leapp import annotate


class Tied(nn.Module):
    """Two layers that share one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)
        self.second.weight = self.first.weight

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.second(torch.tanh(self.first(x)))
        return out


def export(bench: Workbench, model: nn.Module, x: Tensor, **params: Any) -> onnx.ModelProto:
    with bench.trace(), torch.no_grad():
        obs = annotate.input_tensors("policy", {"obs": x})
        action = model(obs)
        annotate.output_tensors(
            "policy", {"action": action}, export_with="onnx", backend_params=params
        )
    bench.compile()
    path = bench.path("g", "policy.onnx")
    onnx.checker.check_model(str(path), full_check=True)
    return onnx.load(path, load_external_data=False)


class TestFile:
    def test_names_and_shared_weights(self, bench: Workbench) -> None:
        model = export(bench, Tied(), torch.randn(1, 64))
        assert [port.name for port in model.graph.input] == ["obs"]
        assert [port.name for port in model.graph.output] == ["action"]
        large = [t.name for t in model.graph.initializer if list(t.dims) == [64, 64]]
        assert large == ["first.weight"]
        assert {"first.bias", "second.bias"} <= {t.name for t in model.graph.initializer}

    def test_lines_and_modules(self, bench: Workbench) -> None:
        model = export(bench, Tied(), torch.randn(1, 64))
        tanh = next(node for node in model.graph.node if node.op_type == "Tanh")
        known = tanh.doc_string + "".join(p.value for p in tanh.metadata_props)
        assert "test_onnx_files.py" in known

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
    def test_half_precision_stays(self, dtype: torch.dtype, bench: Workbench) -> None:
        model = export(bench, Tied().to(dtype), torch.randn(1, 64, dtype=dtype))
        weight = next(t for t in model.graph.initializer if t.name == "first.weight")
        wanted = {torch.float16: TensorProto.FLOAT16, torch.bfloat16: TensorProto.BFLOAT16}[dtype]
        assert weight.data_type == wanted
        assert len(weight.raw_data) == 2 * 64 * 64

    def test_external_data_on_request(self, bench: Workbench) -> None:
        torch.manual_seed(0)
        model, x = Tied(), torch.randn(1, 64)
        written = export(bench, model, x, external_data=True)
        weight = next(t for t in written.graph.initializer if t.name == "first.weight")
        assert weight.data_location == TensorProto.EXTERNAL
        parameters = bench.yaml()["models"]["policy"]["parameters"]
        (entry,) = parameters["external_data"]
        data = bench.path("g", entry["path"])
        assert entry["sha256sum"] == hashlib.sha256(data.read_bytes()).hexdigest()
        fresh = torch.randn(1, 64)
        result = bench.manager().run_policy({"policy/obs": fresh})["policy/action"]
        torch.testing.assert_close(result, model(fresh).detach(), rtol=1e-5, atol=1e-6)
        data.write_bytes(data.read_bytes()[:-1] + b"\x00\x01")
        with pytest.raises(leapp.errors.LeappError, match=r"policy\.onnx\.data"):
            bench.manager()


def own_onnx(path: Path, external: bool = False, **changes: Any) -> Path:
    """Write x * 3 as a file, with the given port names, types and shapes."""
    wanted = {"x": "x", "y": "y", "dtype": TensorProto.FLOAT, "shape": [2], **changes}
    weight = numpy_helper.from_array(
        np.full(wanted["shape"], 3, helper.tensor_dtype_to_np_dtype(wanted["dtype"])), "w"
    )
    ports = [
        helper.make_tensor_value_info(wanted[side], wanted["dtype"], wanted["shape"])
        for side in ("x", "y")
    ]
    node = helper.make_node("Mul", [wanted["x"], "w"], [wanted["y"]])
    graph = helper.make_graph([node], "mine", ports[:1], ports[1:], [weight])
    if changes.get("second"):
        graph.input.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [2]))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    if external:
        onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    else:
        onnx.save(model, path)
    return path


class TestOwnModel:
    def export(self, bench: Workbench, path: Path, **options: Any) -> Any:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors(
                "n", {"y": x * 3}, export_with=None, backend_params={"model_path": str(path)}
            )
        return bench.compile(**options)

    @pytest.mark.parametrize("external", [False, True])
    def test_onnx_is_copied_with_all_its_files(self, external: bool, bench: Workbench) -> None:
        self.export(bench, own_onnx(bench.path("mine.onnx"), external))
        parameters = bench.yaml()["models"]["n"]["parameters"]
        assert parameters["backend"] == "onnx"
        assert parameters["opset_version"] == 20
        assert [e["path"] for e in parameters.get("external_data", [])] == ["w.bin"] * external
        result = bench.manager().run_policy({"n/x": torch.tensor([1.0, 2.0])})["n/y"]
        assert torch.equal(result, torch.tensor([3.0, 6.0]))

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"x": "a"}, "the input 'x' is declared, but the model has a"),
            ({"y": "b"}, "the output 'y' is declared, but the model has b"),
            ({"shape": [3]}, r"declared with shape \[2\], but the model has \[3\]"),
            ({"shape": [2, 1]}, r"declared with shape \[2\], but the model has \[2, 1\]"),
            ({"dtype": TensorProto.DOUBLE}, "declared as float32, but the model has float64"),
            ({"second": True}, "an input 'z' that the node does not declare"),
        ],
    )
    def test_onnx_must_fit_the_ports(
        self, changes: dict[str, Any], message: str, bench: Workbench
    ) -> None:
        path = own_onnx(bench.path("mine.onnx"), **changes)
        with pytest.raises(leapp.errors.LeappError, match=rf"node 'n'.*mine\.onnx.*{message}"):
            self.export(bench, path, validate=False)

    def test_missing_weights_are_named(self, bench: Workbench) -> None:
        path = own_onnx(bench.path("mine.onnx"), external=True)
        bench.path("w.bin").unlink()
        with refused("LP004"):
            self.export(bench, path)

    def test_torchscript_must_fit_the_ports(self, bench: Workbench) -> None:
        path = bench.path("mine.pt")
        torch.jit.trace(lambda x, y: x * 3 + y, (torch.ones(2), torch.ones(2))).save(str(path))
        with refused("LP406"):
            self.export(bench, path, validate=False)

    @pytest.mark.parametrize("name", ["mine.onnx", "mine.pt"])
    def test_garbage_is_named(self, name: str, bench: Workbench) -> None:
        bench.path(name).write_text("no model at all")
        with pytest.raises(leapp.errors.LeappError, match=name):
            self.export(bench, bench.path(name), validate=False)


@torch.library.custom_op("leapp_tests::softclip", mutates_args=())
def softclip(x: Tensor, limit: float) -> Tensor:
    """Computed by NumPy, so it cannot be decomposed into operators."""
    return torch.from_numpy(np.tanh(x.detach().numpy() / limit) * limit)


@softclip.register_fake
def _(x: Tensor, limit: float) -> Tensor:
    return torch.empty_like(x)


def test_the_example_of_the_documentation_runs(bench: Workbench) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "howto" / "onnx.md").read_text()
    code = next(c for c in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "mylib" in c)
    names: dict[str, Any] = {}
    exec(code, names)
    try:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.linspace(-5, 5, 7)})
            annotate.output_tensors("n", {"y": names["softclip"](x, 2.0)}, export_with="onnx")
        assert bench.compile() == {"n": True}
    finally:
        assert leapp.onnx.remove_converter("mylib::softclip")


class TestOwnConverter:
    def export(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.linspace(-5, 5, 7)})
            annotate.output_tensors("n", {"y": softclip(x, 2.0)}, export_with="onnx")
        bench.compile()

    def test_without_one_the_operator_is_named(self, bench: Workbench) -> None:
        with refused("LP502", "leapp_tests::softclip") as caught:
            self.export(bench)
        assert "register an ONNX converter" in str(caught.value)

    def test_converter(self, bench: Workbench) -> None:
        @leapp.onnx.converter("leapp_tests::softclip")
        def convert(op: leapp.onnx.Op) -> Any:
            limit = op.constant(np.float32(op.number("limit")))
            ratio = op.emit("Div", [op.tensor("x"), limit])
            return op.emit("Mul", [op.emit("Tanh", [ratio]), limit])

        try:
            assert "leapp_tests::softclip" in leapp.onnx.convertible_ops()
            self.export(bench)
        finally:
            assert leapp.onnx.remove_converter("leapp_tests::softclip")
        assert not leapp.onnx.remove_converter("leapp_tests::softclip")
        onnx.checker.check_model(str(bench.path("g", "n.onnx")), full_check=True)
        fresh = torch.randn(7) * 4
        result = bench.manager().run_policy({"n/x": fresh})["n/y"]
        torch.testing.assert_close(result, torch.tanh(fresh / 2) * 2)

    def test_a_converter_that_fails_names_the_line(self, bench: Workbench) -> None:
        @leapp.onnx.converter("leapp_tests::softclip")
        def convert(op: leapp.onnx.Op) -> Any:
            op.fail("the limit must be a constant of the policy", "Pass limit=1.")

        try:
            with refused("LP502") as caught:
                self.export(bench)
        finally:
            leapp.onnx.remove_converter("leapp_tests::softclip")
        assert "test_onnx_files.py" in str(caught.value)

    def test_one_may_replace_ours(self, bench: Workbench) -> None:
        @leapp.onnx.converter("aten::relu")
        def convert(op: leapp.onnx.Op) -> Any:
            return op.emit("Max", [op.tensor("self"), op.constant(np.float32(0))])

        try:
            with bench.trace():
                x = annotate.input_tensors("n", {"x": torch.linspace(-5, 5, 7)})
                annotate.output_tensors("n", {"y": torch.relu(x)}, export_with="onnx")
            bench.compile()
        finally:
            leapp.onnx.remove_converter("aten::relu")
        model = onnx.load(bench.path("g", "n.onnx"))
        assert [node.op_type for node in model.graph.node] == ["Max"]
