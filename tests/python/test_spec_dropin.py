"""Programs written for NVIDIA's leapp: their imports, patches, switches and log messages."""

from __future__ import annotations

import importlib.metadata
import logging
import types
from typing import Any

import numpy as np
import pytest
import torch
from affine_stage import affine
from conftest import Workbench, refused

import leapp
from leapp import annotate


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

        with refused("LP003"):
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
        with refused("LP003"):
            leapp.start("g", save_path=str(bench.folder), patching=patches)
        assert not leapp.ExportManager().is_interpret_graph_enabled()

    def test_a_replacement_by_the_program_stays(
        self, bench: Workbench, library: types.ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def mine(value: Any) -> Any:
            return value

        monkeypatch.setattr(np, "sinc", np.sinc)  # restores it after the test
        original = np.cos
        with bench.trace(patching=[leapp.FunctionPatch(library, "twice", abs)]):
            library.twice = mine
            np.sinc = mine
        assert library.twice is mine
        assert np.sinc is mine
        assert np.cos is original


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
        assert capfd.readouterr().err.count("WARNING") == 1  # unchanged

    def test_nothing_is_printed_twice(self, bench: Workbench) -> None:
        handlers = logging.getLogger("leapp").handlers
        assert [type(handler) for handler in handlers] == [logging.NullHandler]
