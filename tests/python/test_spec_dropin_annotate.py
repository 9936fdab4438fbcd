"""Programs written for NVIDIA's leapp: arguments of annotate: payloads, methods, keywords."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from affine_stage import affine, stage
from conftest import Workbench, refused

import leapp
from leapp import annotate


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
        assert "test_spec_dropin_annotate.py" in said and "[LP222]" in said
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
        assert "WARNING" not in capfd.readouterr().err

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
        here = r"test_spec_dropin_annotate\.py:\d+.*invalid name of a (node|port)"
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
            with refused("LP003", "test_spec_dropin_annotate.py:"):
                leapp.TensorSemantics("x", torch.ones(2), extra=extra)
            with refused("LP003"):
                leapp.GraphConfigs(extra=extra)

    def test_parameters_that_contain_themselves(self, bench: Workbench) -> None:
        params: dict[str, Any] = {}
        params["optimize"] = params
        leapp.start("g", save_path=str(bench.folder))
        with refused("LP003"):
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
                with refused("LP116"):
                    annotate.mirror_leapp_tags(other, buffers)
            with refused("LP002"):
                annotate.mirror_leapp_tags(3, copies)
        assert bench.compile() == {"one": True, "mid": True}
