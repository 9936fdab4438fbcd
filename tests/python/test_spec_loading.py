"""Loading a bundle: missing, changed or wrong files, and nodes without a model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from conftest import Workbench, refused

from leapp import InferenceManager, annotate


class TestLoading:
    def edit(self, bench: Workbench, change: Any) -> str:
        path = bench.path("g", "g.yaml")
        document = yaml.safe_load(path.read_text())
        change(document)
        path.write_text(yaml.safe_dump(document, sort_keys=False))
        return str(path)

    def test_missing_file(self, tmp_path: Path) -> None:
        with refused("LP004"):
            InferenceManager(str(tmp_path / "nothing.yaml"))

    def test_not_yaml(self, tmp_path: Path) -> None:
        (tmp_path / "model.txt").write_text("x")
        with pytest.raises(ValueError, match=r"must end with \.yaml"):
            InferenceManager(str(tmp_path / "model.txt"))

    @pytest.mark.parametrize("section", ["models", "pipeline", "system information"])
    def test_missing_section(self, jit_pair: Workbench, section: str) -> None:
        path = self.edit(jit_pair, lambda document: document.pop(section))
        with pytest.raises(ValueError, match="must contain"):
            InferenceManager(path)

    def test_missing_model_file(self, pair: Workbench, backend: str) -> None:
        suffix = "pt" if backend == "jit" else "onnx"
        pair.path("g", f"policy.{suffix}").unlink()
        with refused("LP004"):
            pair.manager()

    def test_changed_model_file(self, pair: Workbench, backend: str) -> None:
        path = pair.path("g", f"policy.{'pt' if backend == 'jit' else 'onnx'}")
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(ValueError, match="SHA256 checksum mismatch"):
            pair.manager()

    def test_unknown_backend(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["models"]["policy"]["parameters"].update(backend="fortran")
        )
        with pytest.raises(ValueError, match="Unsupported backend"):
            InferenceManager(path)

    def test_wire_between_other_shapes(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["models"]["policy"]["inputs"][0].update(shape=[1, 5])
        )
        with pytest.raises(ValueError, match="Shape mismatch in pipeline connection"):
            InferenceManager(path)

    def test_wire_between_other_dtypes(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["models"]["policy"]["inputs"][0].update(dtype="float64")
        )
        with pytest.raises(ValueError, match="Dtype mismatch in pipeline connection"):
            InferenceManager(path)

    @pytest.mark.parametrize("version", ["1.1", "1.2", "1.3", "1.4"])
    def test_known_config_version(self, jit_pair: Workbench, version: str) -> None:
        path = self.edit(
            jit_pair, lambda d: d["system information"].update({"leapp config version": version})
        )
        manager = InferenceManager(path)
        manager(manager.get_mock_input())

    @pytest.mark.parametrize("version", ["1.5", "2.0", "17.1"])
    def test_newer_config_version(self, jit_pair: Workbench, version: str) -> None:
        path = self.edit(
            jit_pair, lambda d: d["system information"].update({"leapp config version": version})
        )
        with pytest.raises(Exception, match=version.replace(".", r"\.")):
            InferenceManager(path)

    @pytest.mark.parametrize("path", ["../escape.pt", "/etc/passwd", "a/../../escape.pt"])
    def test_path_that_leaves_the_directory(self, jit_pair: Workbench, path: str) -> None:
        shutil.copy(jit_pair.path("g", "policy.pt"), jit_pair.path("escape.pt"))
        yaml_path = self.edit(
            jit_pair, lambda d: d["models"]["policy"]["parameters"].update(model_path=path)
        )
        with pytest.raises(Exception, match=r"policy|folder|path|leave|outside"):
            InferenceManager(yaml_path)

    def test_changed_initial_values(self, jit_pair: Workbench) -> None:
        path = jit_pair.path("g", "g_initial_values.safetensors")
        content = bytearray(path.read_bytes())
        content[-1] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(ValueError, match="checksum"):
            jit_pair.manager()

    def test_missing_initial_values(self, jit_pair: Workbench) -> None:
        jit_pair.path("g", "g_initial_values.safetensors").unlink()
        with pytest.raises(FileNotFoundError):
            jit_pair.manager()

    @pytest.mark.parametrize(
        "text", ["", "[]", "3", "models: [", "models: {a: 1}\npipeline: 3\n", "\x00\x01"]
    )
    def test_broken_yaml(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "g.yaml"
        path.write_text(text)
        with pytest.raises(ValueError):
            InferenceManager(str(path))

    def test_wire_to_a_missing_port(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["pipeline"]["data_flow"].update({"pre/mixed": ["nobody/x"]})
        )
        with pytest.raises(ValueError, match="nobody"):
            InferenceManager(path)

    def test_wire_from_a_missing_port(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["pipeline"]["data_flow"].update({"pre/nothing": ["policy/x"]})
        )
        with pytest.raises(ValueError, match="nothing"):
            InferenceManager(path)


class TestNoModel:
    def test_loads_for_inspection_and_refuses_to_run(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 2}, export_with=None)
        bench.compile()
        manager = bench.manager()
        assert manager.inputs == ["n/x"]
        with refused("LP403", "'n'"):
            manager({"n/x": torch.ones(2)})

    def test_dry_run_bundle_loads(self, bench: Workbench) -> None:
        with bench.trace(dry_run=True):
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        bench.compile()
        assert bench.manager().outputs == ["n/y"]
