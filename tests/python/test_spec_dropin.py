"""Programs written for NVIDIA's leapp: what they import, pass, read and expect of an export."""

from __future__ import annotations

import importlib.metadata
import logging
import types
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from conftest import Workbench

import leapp
from leapp import annotate


def affine(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


def stage(x: torch.Tensor, node: str = "n", **options: Any) -> Any:
    """One pass of a node that computes affine(x)."""
    x = annotate.input_tensors(node, {"x": x})
    return annotate.output_tensors(node, {"y": affine(x)}, **options)


class TestNames:
    def test_the_modules_that_programs_import(self) -> None:
        from leapp.utils import enums, tensor_description

        assert tensor_description.TensorSemantics is leapp.TensorSemantics
        assert tensor_description.TemporalAxis is leapp.TemporalAxis
        assert tensor_description.GraphConfigs is leapp.GraphConfigs
        assert enums.InputKindEnum is leapp.InputKindEnum
        assert enums.OutputKindEnum is leapp.OutputKindEnum

    @pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int64", "uint8", "bool"])
    def test_types_by_name(self, name: str) -> None:
        from leapp.utils.tensor_description import map_to_torch_dtype

        assert map_to_torch_dtype(name) is getattr(torch, name)

    @pytest.mark.parametrize("name", ["float33", "nn", "", None])
    def test_a_name_of_no_type(self, name: Any) -> None:
        from leapp.utils.tensor_description import map_to_torch_dtype

        with pytest.raises(ValueError, match="no element type"):
            map_to_torch_dtype(name)

    def test_the_installed_version(self) -> None:
        assert importlib.metadata.version("leapp") == leapp.__version__


@pytest.mark.parametrize(
    "export_with", ["jit", "jit-trace", "onnx", "onnx-torchscript", "onnx-dynamo", "pt2"]
)
def test_tracing_without_torchs_jit(bench: Workbench, export_with: str) -> None:
    layer = torch.nn.Linear(3, 3)
    torch.jit._state.disable()
    try:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.randn(1, 3)})
            y = torch.jit.script(affine)(layer(x))
            annotate.output_tensors("n", {"y": y}, export_with=export_with)
        assert bench.compile() == {"n": True}
        manager = bench.manager()
        x = torch.randn(1, 3)
        torch.testing.assert_close(manager({"n/x": x})["n/y"], affine(layer(x)))
    finally:
        torch.jit._state.enable()


class TestNodesOfAManager:
    @pytest.fixture(params=["jit", "onnx", "pt2"])
    def bundle(self, bench: Workbench, request: pytest.FixtureRequest) -> Workbench:
        with bench.trace():
            x = annotate.input_tensors("one", {"x": torch.randn(2)})
            x = annotate.output_tensors("one", {"y": affine(x)}, export_with=request.param)
            inputs = {"x": x, "count": torch.ones(3, dtype=torch.int64)}
            x, count = annotate.input_tensors("two", inputs)
            outputs = {"sum": x.sum(), "count": count + 1}
            annotate.output_tensors("two", outputs, export_with=request.param)
        bench.compile()
        return bench

    def test_say_what_they_take_and_give(self, bundle: Workbench) -> None:
        node = bundle.manager().nodes["two"]
        assert node.device == "cpu"
        assert [name.removesuffix("_in") for name in node.input_names] == ["x", "count"]
        assert (node.input_shapes, node.input_dtypes) == ([[2], [3]], ["float32", "int64"])
        assert [name.removesuffix("_out") for name in node.output_names] == ["sum", "count"]
        assert (node.output_shapes, node.output_dtypes) == ([[], [3]], ["float32", "int64"])

    def test_mock_values_are_zeros_by_name(self, bundle: Workbench) -> None:
        node = bundle.manager().nodes["two"]
        mock, result = node.mock_input, node.mock_output
        assert (list(mock), list(result)) == (node.input_names, node.output_names)
        for value, shape, dtype in zip(
            [*mock.values(), *result.values()],
            node.input_shapes + node.output_shapes,
            node.input_dtypes + node.output_dtypes,
            strict=True,
        ):
            assert torch.equal(value, torch.zeros(shape, dtype=getattr(torch, dtype)))

    def test_can_be_called(self, bundle: Workbench) -> None:
        manager = bundle.manager()
        x = torch.randn(2)
        result = manager.nodes["one"](x)
        assert torch.equal(result, affine(x))
        total, count = manager.nodes["two"](result, torch.zeros(3, dtype=torch.int64))
        torch.testing.assert_close(total, affine(x).sum())
        assert count.tolist() == [1, 1, 1]
        assert callable(manager.nodes["two"].model)

    def test_leave_the_pipeline_alone(self, bundle: Workbench) -> None:
        manager = bundle.manager()
        before = manager.value_dict["one"]["x"]
        manager.nodes["one"](torch.ones(2))
        assert torch.equal(manager.value_dict["one"]["x"], before)

    def test_want_all_their_inputs(self, bundle: Workbench) -> None:
        node = bundle.manager().nodes["two"]
        with pytest.raises(ValueError, match="Expected 2 inputs, got 1"):
            node(torch.zeros(2))
        with pytest.raises(TypeError, match="two/x"):
            node(torch.zeros(2, dtype=torch.int64), torch.zeros(3, dtype=torch.int64))

    def test_arrays_of_numpy(self, bundle: Workbench) -> None:
        node = bundle.manager(array="numpy").nodes["one"]
        assert isinstance(node.mock_input["x"], np.ndarray)
        assert node(np.ones(2, np.float32)).tolist() == [3, 3]

    def test_without_a_model(self, bench: Workbench) -> None:
        with bench.trace():
            stage(torch.ones(2), export_with=None)
        bench.compile()
        node = bench.manager().nodes["n"]
        assert node.model is None
        assert node.input_names == ["x"]
        with pytest.raises(leapp.LeappError, match="'n' has no model"):
            node(torch.ones(2))


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
                    counter += 1  # found by itself
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

    def test_outputs_that_go_nowhere(self, bench: Workbench) -> None:
        with bench.trace():
            stage(torch.ones(2), export_with="jit")
        bench.compile()
        file = bench.path("g", "g.yaml")
        file.write_text(file.read_text().replace("  outputs:\n    n: [y]", "  outputs: {}"))
        with pytest.raises(ValueError, match="node 'n' has unroutable outputs: 'y'"):
            bench.manager()


class TestMethod:
    def test_unknown_keywords_are_ignored_with_a_warning(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        @annotate.method(export_with="jit", verbose=True, environment_constants=["gain"])
        def act(x: torch.Tensor) -> torch.Tensor:
            return affine(x)

        assert act(torch.ones(1)).item() == 3
        assert capfd.readouterr().err == ""
        with bench.trace():
            act(torch.ones(1))
            act(torch.ones(1))
        said = capfd.readouterr().err
        assert said.count("does not know environment_constants=, verbose=") == 1
        assert "test_spec_dropin.py" in said and "[LP222]" in said
        assert bench.compile() == {"act": True}

    def test_a_default_tensor_is_a_constant(self, bench: Workbench, backend: str) -> None:
        @annotate.method(export_with=backend)
        def scaled(x: torch.Tensor, gain: torch.Tensor = torch.tensor([2.0, 3.0])) -> Any:
            return x * gain

        with bench.trace():
            scaled(torch.randn(2))
            scaled(torch.randn(2))
        assert bench.compile() == {"scaled": True}
        assert bench.manager().inputs == ["scaled/x"]

    @pytest.mark.parametrize("made_of", ["torch", "numpy"])
    def test_a_method_of_constants_alone_has_no_inputs(
        self, bench: Workbench, backend: str, made_of: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        default: Any = torch.tensor([1.0, 2.0])
        if made_of == "numpy":
            default = default.numpy()

        class Robot:
            @annotate.method(export_with=backend)
            def stance(self, pose: Any = default, *, scale: float = 2.0) -> Any:
                return pose * scale

        with bench.trace():
            Robot().stance()
            Robot().stance()
        assert bench.compile() == {"stance": True}
        assert bench.yaml()["models"]["stance"]["inputs"] == []
        manager = bench.manager()
        assert manager.inputs == []
        (value,) = manager({}).values()
        assert value.tolist() == [2, 4]
        assert capfd.readouterr().err == ""

    def test_a_default_that_is_written_is_state(self, bench: Workbench, backend: str) -> None:
        @annotate.method(export_with=backend)
        def count(so_far: torch.Tensor = torch.zeros(1)) -> torch.Tensor:
            so_far += 1
            return so_far * 1

        with bench.trace():
            count()
            count()
        assert bench.compile() == {"count": True}
        manager = bench.manager()
        assert [next(iter(manager({}).values())).item() for _ in range(3)] == [1, 2, 3]


class TestPayloads:
    def test_the_empty_name_adds_no_prefix(self, bench: Workbench) -> None:
        with bench.trace():
            payload = {"": {"joint_pos": torch.ones(2), "imu": [torch.ones(2), torch.ones(2)]}}
            given = annotate.input_tensors("n", payload)
            outputs = {"": [given["joint_pos"] + sum(given["imu"])]}
            annotate.output_tensors("n", outputs, export_with="jit")
        bench.compile()
        model = bench.yaml()["models"]["n"]
        assert [port["name"] for port in model["inputs"]] == ["joint_pos", "imu_0", "imu_1"]
        assert [port["name"] for port in model["outputs"]] == ["0"]

    @pytest.mark.parametrize("name", ["", "a\nb", "\x7f", "x" * 201])
    def test_names_that_no_bundle_holds(self, bench: Workbench, name: str) -> None:
        leapp.start("g", save_path=str(bench.folder))
        here = r"test_spec_dropin\.py:\d+.*no (node|port) can have that name"
        with pytest.raises(ValueError, match=here):
            annotate.input_tensors(name, {"x": torch.ones(2)})
        with pytest.raises(ValueError, match=here):
            annotate.input_tensors("n", {name: torch.ones(2)})
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(ValueError, match=here):
            annotate.state_tensors("n", {name: torch.ones(2)})
        with pytest.raises(ValueError, match=here):
            annotate.register_buffer("n", {name: torch.ones(2)})
        with pytest.raises(ValueError, match=here):
            annotate.output_tensors("n", {name: x * 2}, export_with="jit")

    def test_extra_that_no_bundle_holds(self) -> None:
        itself: dict[str, Any] = {}
        itself["again"] = [itself]
        deep: Any = 1
        for _ in range(40):
            deep = [deep]
        laughs: Any = "ha"
        for _ in range(20):
            laughs = [laughs] * 10
        large = [itself, {"k": deep}, {"k": laughs}, {"k": "x" * (1 << 21)}, {"k": [0] * (1 << 21)}]
        for extra in [*large, {"k": np.zeros((1 << 11, 1 << 11))}]:
            with pytest.raises(ValueError, match=r"test_spec_dropin.*contains itself, or"):
                leapp.TensorSemantics("x", torch.ones(2), extra=extra)
            with pytest.raises(ValueError, match="nested deeper"):
                leapp.GraphConfigs(extra=extra)

    def test_parameters_that_contain_themselves(self, bench: Workbench) -> None:
        params: dict[str, Any] = {}
        params["optimize"] = params
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(ValueError, match="contains itself"):
            stage(torch.ones(2), export_with="jit", backend_params=params)

    def test_mirrored_containers(self, bench: Workbench) -> None:
        buffers = {"a": np.zeros(2, np.float32), "rest": [torch.zeros(2), 5]}
        with bench.trace(global_patching=False):
            first = stage(torch.randn(2), "one", export_with="jit")
            x = annotate.input_tensors("mid", {"x": first})
            copies = {"a": torch.zeros(2), "rest": [torch.zeros(2), 5]}
            for copy in (copies["a"], copies["rest"][0]):
                copy.numpy()[:] = x.numpy()
            annotate.mirror_leapp_tags({"a": x, "rest": [x, 5]}, copies)
            total = copies["a"] + copies["rest"][0]
            annotate.output_tensors("mid", {"y": total}, export_with="jit")
            for other in ({"a": x}, [x], {"a": x, "rest": [x]}, {"a": x, "rest": [x, 6]}):
                with pytest.raises(ValueError, match="source and target do not match"):
                    annotate.mirror_leapp_tags(other, buffers)
            with pytest.raises(TypeError, match="expects tensors as source"):
                annotate.mirror_leapp_tags(3, copies)
        assert bench.compile() == {"one": True, "mid": True}


class TestFunctionPatch:
    @pytest.fixture
    def library(self) -> types.ModuleType:
        module = types.ModuleType("library")
        vars(module)["twice"] = lambda value: value * 2
        return module

    def test_is_skipped_without_global_patching(
        self, bench: Workbench, library: types.ModuleType
    ) -> None:
        original = library.twice
        patch = leapp.FunctionPatch(library, "twice", lambda value: value * 3)
        with bench.trace(global_patching=False, patching=[patch]):
            assert library.twice is original

    def test_one_target_twice(self, bench: Workbench, library: types.ModuleType) -> None:
        patches = [leapp.FunctionPatch(library, "twice", abs) for _ in range(2)]
        with pytest.raises(ValueError, match=r"replaces twice\(\) of library twice"):
            leapp.start("g", save_path=str(bench.folder), patching=patches)
        assert not leapp.ExportManager().is_interpret_graph_enabled()

    def test_what_the_program_put_there_stays(
        self, bench: Workbench, library: types.ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def mine(value: Any) -> Any:
            return value

        monkeypatch.setattr(np, "sinc", np.sinc)  # puts it back behind the test
        original = np.cos
        with bench.trace(patching=[leapp.FunctionPatch(library, "twice", abs)]):
            library.twice = mine
            np.sinc = mine
        assert library.twice is mine
        assert np.sinc is mine
        assert np.cos is original


class TestReset:
    def test_inputs_are_zero_until_they_are_set(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            stage(torch.ones(2), export_with=backend)
        bench.compile()
        manager = bench.manager()
        manager.set_input_value("n", "x", torch.ones(2))
        manager({})
        manager.reset()
        assert manager.value_dict["n"]["x"].tolist() == [0, 0]
        with pytest.raises(ValueError, match="n/x"):
            manager({})
        assert manager({"n/x": torch.ones(2)})["n/y"].tolist() == [3, 3]
        assert manager.value_dict["n"]["x"].tolist() == [1, 1]

    def test_memory_of_the_callers_is_left_alone(self, bench: Workbench) -> None:
        with bench.trace():
            stage(torch.ones(2), export_with="onnx")
        bench.compile()
        manager, mine = bench.manager(), torch.ones(2)
        manager.bind_input("n/x", mine)
        manager.reset()
        manager.tick()
        assert mine.tolist() == [1, 1]
        assert manager.value_dict["n"]["y"].tolist() == [3, 3]


class TestLogging:
    def test_every_line_goes_through_logging(
        self, bench: Workbench, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with caplog.at_level(logging.DEBUG, logger="leapp"):
            with bench.trace():
                x = annotate.input_tensors("n", {"x": torch.ones(2), "number": 3})[0]
                annotate.output_tensors("n", {"y": affine(x)}, export_with="jit")
            bench.compile()
        lines = [f"[{r.levelname}]: {r.getMessage()}" for r in caplog.records if r.name == "leapp"]
        assert "\n".join(lines) + "\n" == bench.log()
        assert {r.levelname for r in caplog.records} >= {"DEBUG", "INFO", "WARNING"}
        assert capfd.readouterr().err.count("WARNING") == 1  # as it was

    def test_nothing_is_printed_twice(self, bench: Workbench) -> None:
        handlers = logging.getLogger("leapp").handlers
        assert [type(handler) for handler in handlers] == [logging.NullHandler]


class TestOnnxByTorchScript:
    """Writes in place become operators that PyTorch's exporter does not know by itself."""

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
