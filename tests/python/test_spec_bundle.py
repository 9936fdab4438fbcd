"""The files of an export: the YAML's sections, fields and order, models, hashes, names."""

from __future__ import annotations

import hashlib
import platform
import re
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused
from pair_pipeline import export_pair
from torch import nn

import leapp
from leapp import annotate


@pytest.fixture
def pipeline(bench: Workbench) -> Workbench:
    """Two nodes, one wire, a memory with feedback, a state, two backends."""
    memory = torch.zeros(1, 4)
    layer = nn.Linear(4, 4)
    with bench.trace(), torch.no_grad():
        for _ in range(2):
            obs, last = annotate.input_tensors("pre", {"obs": torch.randn(1, 4), "last": memory})
            mixed = annotate.output_tensors("pre", {"mixed": obs + 0.5 * last}, export_with="jit")
            x = annotate.input_tensors("policy", {"x": mixed})
            h = annotate.state_tensors("policy", {"h": torch.zeros(1, 4)})
            new = torch.tanh(layer(x) + h)
            annotate.update_state("policy", {"h": new})
            memory, _ = annotate.output_tensors(
                "policy", {"action": new * 2, "value": new.sum()}, export_with="onnx"
            )
    bench.compile(graph_configs=leapp.GraphConfigs(frequency=50))
    return bench


class TestSections:
    def test_top_level(self, pipeline: Workbench) -> None:
        assert list(pipeline.yaml()) == ["models", "pipeline", "system information"]

    def test_model_sections(self, pipeline: Workbench) -> None:
        for model in pipeline.yaml()["models"].values():
            assert list(model) == ["inputs", "outputs", "parameters"]

    def test_port_fields(self, pipeline: Workbench) -> None:
        for model in pipeline.yaml()["models"].values():
            for port in model["inputs"] + model["outputs"]:
                assert list(port)[:4] == ["name", "dtype", "shape", "type"]
                assert port["type"] == "tensor"

    def test_pipeline_is_sorted(self, pipeline: Workbench) -> None:
        keys = list(pipeline.yaml()["pipeline"])
        assert keys == sorted(keys)
        assert {
            "configs",
            "data_flow",
            "feedback_flow",
            "initial_values",
            "inputs",
            "outputs",
        } <= set(keys)

    def test_system_information(self, pipeline: Workbench) -> None:
        info = pipeline.yaml()["system information"]
        keys = list(info)
        assert keys == sorted(keys)
        assert {
            "cuda version",
            "leapp config version",
            "leapp version",
            "os",
            "python version",
            "torch version",
        } <= set(keys)
        assert info["leapp config version"] == "1.3"
        assert info["leapp version"] == leapp.__version__
        assert info["python version"] == platform.python_version()
        assert info["torch version"] == torch.__version__
        assert isinstance(info["os"], str)

    def test_config_version_is_a_quoted_string(self, pipeline: Workbench) -> None:
        assert "leapp config version: '1.3'" in pipeline.text()

    def test_lists_of_ports_in_flow_style(self, pipeline: Workbench) -> None:
        text = pipeline.text()
        assert "pre/mixed: [policy/x]" in text
        assert "shape: [1, 4]" in text
        assert "policy: [action, value]" in text or "policy: [value]" in text

    def test_wiring(self, pipeline: Workbench) -> None:
        section = pipeline.yaml()["pipeline"]
        assert section["data_flow"] == {"pre/mixed": ["policy/x"]}
        assert section["feedback_flow"] == {
            "policy/action": ["pre/last"],
            "policy/h_out": ["policy/h_in"],
        }
        assert section["inputs"] == {"pre": ["obs"]}
        assert section["initial_values"] == "g_initial_values.safetensors"

    def test_ports_in_the_order_declared(self, pipeline: Workbench) -> None:
        models = pipeline.yaml()["models"]
        assert [p["name"] for p in models["pre"]["inputs"]] == ["obs", "last"]
        assert [p["name"] for p in models["policy"]["outputs"]] == ["action", "value", "h_out"]

    def test_empty_flows_are_written(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        bench.compile()
        section = bench.yaml()["pipeline"]
        assert section["data_flow"] == {}
        assert section["feedback_flow"] == {}
        assert "initial_values" not in section

    @pytest.mark.parametrize("backend", ["jit", "onnx"])
    def test_merged_nodes(self, bench: Workbench, backend: str) -> None:
        export_pair(bench, backend)
        assert bench.yaml()["pipeline"]["merged"] == [["pre", "policy"]]
        assert len(bench.manager().description()) == 1
        assert len(bench.manager(merge=False).description()) == 2

    def test_merged_nodes_need_a_validation(self, bench: Workbench) -> None:
        export_pair(bench, "onnx", validate=False)
        assert "merged" not in bench.yaml()["pipeline"]
        assert len(bench.manager().description()) == 2

    def test_scalar_shape(self, pipeline: Workbench) -> None:
        assert pipeline.yaml()["models"]["policy"]["outputs"][1]["shape"] == []


class TestParameters:
    def test_common(self, pipeline: Workbench) -> None:
        for node, model in pipeline.yaml()["models"].items():
            parameters = model["parameters"]
            assert list(parameters)[:4] == ["model_path", "md5sum", "sha256sum", "backend"]
            path = parameters["model_path"]
            assert not path.startswith("/")
            content = pipeline.path("g", path).read_bytes()
            assert parameters["md5sum"] == hashlib.md5(content).hexdigest()
            assert parameters["sha256sum"] == hashlib.sha256(content).hexdigest()
            assert node in path

    def test_backends(self, pipeline: Workbench) -> None:
        models = pipeline.yaml()["models"]
        assert models["pre"]["parameters"]["backend"] == "jit"
        assert models["pre"]["parameters"]["model_path"].removeprefix("./") == "pre.pt"
        assert models["policy"]["parameters"]["backend"] == "onnx"
        assert models["policy"]["parameters"]["model_path"].removeprefix("./") == "policy.onnx"

    def test_default_opset(self, pipeline: Workbench) -> None:
        assert pipeline.yaml()["models"]["policy"]["parameters"]["opset_version"] == 20

    @pytest.mark.parametrize("opset", [18, 20])
    def test_chosen_opset(self, bench: Workbench, opset: int) -> None:
        import onnx

        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors(
                "n", {"y": x * 2}, export_with="onnx", backend_params={"opset_version": opset}
            )
        bench.compile()
        assert bench.yaml()["models"]["n"]["parameters"]["opset_version"] == opset
        model = onnx.load(bench.path("g", "n.onnx"))
        assert {o.domain: o.version for o in model.opset_import}[""] == opset

    @pytest.mark.parametrize(
        ("name", "backend", "suffix"),
        [
            ("jit", "jit", ".pt"),
            ("jit-script", "jit", ".pt"),
            ("jit-trace", "jit", ".pt"),
            ("onnx", "onnx", ".onnx"),
        ],
    )
    def test_backend_names(self, bench: Workbench, name: str, backend: str, suffix: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": torch.relu(x)}, export_with=name)
        assert bench.compile() == {"n": True}
        parameters = bench.yaml()["models"]["n"]["parameters"]
        assert parameters["backend"] == backend
        assert parameters["model_path"].endswith(suffix)

    @pytest.mark.parametrize("name", ["onnx-dynamo", "onnx-torchscript"])
    def test_onnx_by_torch(self, bench: Workbench, name: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": torch.relu(x)}, export_with=name)
        assert bench.compile() == {"n": True}
        assert bench.yaml()["models"]["n"]["parameters"]["backend"] == "onnx"
        x = torch.randn(2)
        torch.testing.assert_close(bench.manager()({"n/x": x})["n/y"], torch.relu(x))

    def test_onnx_has_no_torch_keys(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("leapp._bridge._NEEDED", {"onnx-dynamo": ("no_such_package",)})
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(1, 3, 8, 8)})
            y = torch.nn.functional.avg_pool2d(torch.nn.functional.silu(x), 2)
            annotate.output_tensors("n", {"y": y}, export_with="onnx-dynamo")
        assert bench.compile() == {"n": True}
        said = capfd.readouterr().err
        assert "needs the Python package no_such_package" in said
        assert "[LP404]" in said

    @pytest.mark.parametrize("name", ["pt2", "exported-program"])
    def test_pt2(self, bench: Workbench, name: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": torch.relu(x)}, export_with=name)
        assert bench.compile() == {"n": True}
        parameters = bench.yaml()["models"]["n"]["parameters"]
        assert parameters["backend"] == "pt2"
        assert parameters["torch_version"] == torch.__version__
        assert bench.path("g", "n.pt2").is_file()
        program = torch.export.load(bench.path("g", "n.pt2"))
        x = torch.randn(2)
        result = program.module()(x)
        result = result[0] if isinstance(result, (tuple, list)) else result
        torch.testing.assert_close(result, torch.relu(x))

    def test_no_model(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 2}, export_with=None)
        assert bench.compile() == {"n": True}
        assert not [p for p in bench.path("g").iterdir() if p.suffix in (".pt", ".onnx")]
        assert not bench.yaml()["models"]["n"]["parameters"].get("backend")


class TestOwnModel:
    """export_with=None with a model of the user."""

    @pytest.fixture
    def model(self, bench: Workbench) -> Any:
        path = bench.path("mine.pt")
        torch.jit.trace(lambda x: x * 3, torch.ones(2)).save(str(path))
        return path

    def export(self, bench: Workbench, **params: Any) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 3}, export_with=None, backend_params=params)
        bench.compile()

    def test_copied(self, bench: Workbench, model: Any) -> None:
        self.export(bench, model_path=str(model), copy_original_model=True)
        parameters = bench.yaml()["models"]["n"]["parameters"]
        path = bench.path("g", parameters["model_path"])
        assert path.is_file()
        assert path.parent == bench.path("g")
        assert parameters["sha256sum"] == hashlib.sha256(model.read_bytes()).hexdigest()

    def test_copied_runs(self, bench: Workbench, model: Any) -> None:
        self.export(bench, model_path=str(model), copy_original_model=True)
        result = bench.manager()({"n/x": torch.tensor([1.0, 2.0])})["n/y"]
        assert torch.equal(result, torch.tensor([3.0, 6.0]))

    def test_missing_file_is_named(self, bench: Workbench) -> None:
        with refused("LP004", "nowhere"):
            self.export(bench, model_path=str(bench.path("nowhere.pt")))


class TestDtypes:
    @pytest.mark.parametrize(
        "dtype",
        [
            torch.float32,
            torch.float64,
            torch.float16,
            torch.bfloat16,
            torch.int8,
            torch.int16,
            torch.int32,
            torch.int64,
            torch.uint8,
            torch.bool,
        ],
        ids=lambda dtype: str(dtype).removeprefix("torch."),
    )
    def test_jit(self, bench: Workbench, dtype: torch.dtype) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3, dtype=dtype)})
            annotate.output_tensors("n", {"y": torch.cat([x, x])}, export_with="jit")
        assert bench.compile() == {"n": True}
        port = bench.yaml()["models"]["n"]["inputs"][0]
        assert port["dtype"] == str(dtype).removeprefix("torch.")
        x = torch.tensor([1, 0, 1]).to(dtype)
        result = bench.manager()({"n/x": x})["n/y"]
        assert result.dtype == dtype
        assert torch.equal(result, torch.cat([x, x]))

    @pytest.mark.parametrize(
        "dtype",
        [torch.float32, torch.float64, torch.float16, torch.int32, torch.int64, torch.bool],
        ids=lambda dtype: str(dtype).removeprefix("torch."),
    )
    def test_onnx(self, bench: Workbench, dtype: torch.dtype) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3, dtype=dtype)})
            annotate.output_tensors("n", {"y": torch.cat([x, x])}, export_with="onnx")
        assert bench.compile() == {"n": True}
        x = torch.tensor([1, 0, 1]).to(dtype)
        result = bench.manager()({"n/x": x})["n/y"]
        assert result.dtype == dtype
        assert torch.equal(result, torch.cat([x, x]))


class TestModels:
    def test_torchscript_keeps_the_names_of_inputs(self, bench: Workbench) -> None:
        with bench.trace():
            a, b = annotate.input_tensors("n", {"left": torch.ones(2), "right": torch.ones(2)})
            annotate.output_tensors("n", {"y": a - b}, export_with="jit")
        bench.compile()
        module = torch.jit.load(str(bench.path("g", "n.pt")))
        names = [i.debugName() for i in module.graph.inputs()][1:]
        assert [re.sub(r"\.\d+$", "", name) for name in names] == ["left", "right"]

    def test_onnx_keeps_the_names_of_ports(self, bench: Workbench) -> None:
        import onnx

        with bench.trace():
            a, b = annotate.input_tensors("n", {"left": torch.ones(2), "right": torch.ones(2)})
            annotate.output_tensors("n", {"y": a - b, "z": a + b}, export_with="onnx")
        bench.compile()
        model = onnx.load(bench.path("g", "n.onnx"))
        onnx.checker.check_model(model, full_check=True)
        assert [i.name for i in model.graph.input] == ["left", "right"]
        assert [o.name for o in model.graph.output] == ["y", "z"]

    def test_weights_are_in_the_model_once(self, bench: Workbench, backend: str) -> None:
        shared = nn.Linear(200, 200)
        with bench.trace(), torch.no_grad():
            x = annotate.input_tensors("n", {"x": torch.ones(1, 200)})
            annotate.output_tensors("n", {"y": shared(shared(shared(x)))}, export_with=backend)
        bench.compile()
        size = bench.path("g", "n.pt" if backend == "jit" else "n.onnx").stat().st_size
        assert size < 1.5 * 200 * 200 * 4


class TestStateNames:
    def export(self, bench: Workbench, backend: str) -> dict[str, Any]:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            h = annotate.state_tensors("n", {"h": torch.full((2,), 0.5)})
            annotate.update_state("n", {"h": h + x})
            annotate.output_tensors("n", {"y": h * 2}, export_with=backend)
        bench.compile()
        return bench.yaml()

    def test_jit(self, bench: Workbench) -> None:
        document = self.export(bench, "jit")
        assert document["pipeline"]["feedback_flow"] == {"n/h": ["n/h"]}

    def test_onnx(self, bench: Workbench) -> None:
        document = self.export(bench, "onnx")
        assert document["pipeline"]["feedback_flow"] == {"n/h_out": ["n/h_in"]}

    def test_initial_values(self, bench: Workbench, backend: str) -> None:
        from safetensors.torch import load_file

        self.export(bench, backend)
        values = load_file(str(bench.path("g", "g_initial_values.safetensors")))
        key = "n/h" if backend == "jit" else "n/h_in"
        assert list(values) == [key]
        assert torch.equal(values[key], torch.full((2,), 0.5))

    def test_any_name_on_both_sides(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"pose": torch.ones(2)})
            annotate.output_tensors("n", {"pose": x * 2}, export_with="onnx")
        bench.compile()
        model = bench.yaml()["models"]["n"]
        assert model["inputs"][0]["name"] == "pose_in"
        assert model["outputs"][0]["name"] == "pose_out"

    def test_any_name_on_both_sides_of_jit(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"pose": torch.ones(2)})
            annotate.output_tensors("n", {"pose": x * 2}, export_with="jit")
        bench.compile()
        model = bench.yaml()["models"]["n"]
        assert model["inputs"][0]["name"] == "pose"
        assert model["outputs"][0]["name"] == "pose"
        assert torch.equal(
            bench.manager()({"n/pose": torch.ones(2)})["n/pose"], torch.full((2,), 2.0)
        )

    def test_name_as_annotated_works(self, bench: Workbench, backend: str) -> None:
        self.export(bench, backend)
        manager = bench.manager()
        manager.set_input_value("n", "h", torch.full((2,), 7.0))
        assert torch.equal(manager({"n/x": torch.ones(2)})["n/y"], torch.full((2,), 14.0))


class TestNames:
    @pytest.mark.parametrize("node", ["a.b", "left-arm", "left arm", "größe", "1st"])
    def test_unusual_node_names(self, bench: Workbench, node: str, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors(node, {"x": torch.ones(2)})
            annotate.output_tensors(node, {"y": x * 2}, export_with=backend)
        bench.compile()
        assert list(bench.yaml()["models"]) == [node]
        result = bench.manager()({f"{node}/x": torch.ones(2)})
        assert torch.equal(result[f"{node}/y"], torch.full((2,), 2.0))

    @pytest.mark.parametrize("name", ["a.b", "left-arm", "left arm", "1st", "if", "self"])
    def test_unusual_port_names(self, bench: Workbench, name: str, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {name: torch.ones(2)})
            annotate.output_tensors("n", {"o " + name: x * 2}, export_with=backend)
        bench.compile()
        result = bench.manager()({f"n/{name}": torch.ones(2)})
        assert torch.equal(result[f"n/o {name}"], torch.full((2,), 2.0))

    def test_slash_in_node_name(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(leapp.LeappError) as caught:
            annotate.input_tensors("a/b", {"x": torch.ones(2)})
        assert caught.value.code == "LP118"

    def test_numpy_input_dtype(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": np.ones(2, dtype=np.float64)})
            annotate.output_tensors("n", {"y": torch.as_tensor(x) * 2}, export_with="jit")
        bench.compile()
        assert bench.yaml()["models"]["n"]["inputs"][0]["dtype"] == "float64"


class TestWholeExport:
    def test_stale_models_go_away(self, bench: Workbench) -> None:
        for node in ("old", "new"):
            with bench.trace():
                x = annotate.input_tensors(node, {"x": torch.ones(2)})
                annotate.output_tensors(node, {"y": x * 2}, export_with="jit")
            bench.compile()
        assert not bench.path("g", "old.pt").exists()
        assert bench.path("g", "new.pt").exists()

    def test_failed_export_leaves_the_previous_one(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("good", {"x": torch.ones(2)})
            annotate.output_tensors("good", {"y": x * 2}, export_with="jit")
        bench.compile()
        before = bench.text()
        with bench.trace():
            x = annotate.input_tensors("good", {"x": torch.ones(2)})
            annotate.output_tensors("good", {"y": x * 3}, export_with="jit")
            annotate.input_tensors("bad", {"x": torch.ones(2)})
        with refused("LP107", "'bad'"):
            bench.compile()
        assert bench.text() == before
        assert torch.equal(
            bench.manager()({"good/x": torch.ones(2)})["good/y"], torch.full((2,), 2.0)
        )

    def test_same_program_same_yaml(self, bench: Workbench) -> None:
        texts = []
        for name in ("first", "second"):
            with bench.trace(name):
                x = annotate.input_tensors("n", {"x": torch.ones(2)})
                annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
            bench.compile()
            texts.append(re.sub(r"(md5|sha256)sum: \w+", "", bench.text(name)))
        assert texts[0] == texts[1]
