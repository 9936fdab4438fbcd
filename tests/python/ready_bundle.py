"""Bundles from existing model files, without tracing."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import yaml

MODELS = Path(__file__).parent.parent / "data" / "models"


class Bundle:
    """Writes a bundle from existing model files, without tracing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.models: dict[str, Any] = {}
        self.pipeline: dict[str, Any] = {"data_flow": {}, "inputs": {}, "outputs": {}}

    def node(self, name: str, file: str | Path, inputs: list[Any], outputs: list[Any]) -> Bundle:
        """Add a node; ports are names (float32, [1, 4]) or (name, dtype, shape)."""
        source = MODELS / file
        target = self.folder / f"{name}{source.suffix}"
        if source != target:
            shutil.copy(source, target)
        backend = {".pt": "jit", ".onnx": "onnx", ".pt2": "pt2"}[source.suffix]
        parameters = {
            "model_path": target.name,
            "md5sum": hashlib.md5(target.read_bytes()).hexdigest(),
            "sha256sum": hashlib.sha256(target.read_bytes()).hexdigest(),
            "backend": backend,
        }
        if backend == "onnx":
            parameters["opset_version"] = 20  # type: ignore[assignment]
        if backend == "pt2":
            parameters["torch_version"] = "2.13.0"
        self.models[name] = {
            "inputs": [self._port(port) for port in inputs],
            "outputs": [self._port(port) for port in outputs],
            "parameters": parameters,
        }
        return self

    def wire(self, source: str, *targets: str) -> Bundle:
        self.pipeline["data_flow"][source] = list(targets)
        return self

    def feedback(self, source: str, *targets: str) -> Bundle:
        self.pipeline.setdefault("feedback_flow", {})[source] = list(targets)
        return self

    def input(self, node: str, *ports: str) -> Bundle:
        self.pipeline["inputs"][node] = list(ports)
        return self

    def output(self, node: str, *ports: str) -> Bundle:
        self.pipeline["outputs"][node] = list(ports)
        return self

    def write(self) -> str:
        document = {
            "models": self.models,
            "pipeline": self.pipeline,
            "system information": {"leapp config version": "1.3"},
        }
        path = self.folder / "test.yaml"
        path.write_text(yaml.safe_dump(document, sort_keys=False))
        return str(path)

    @staticmethod
    def _port(port: Any) -> dict[str, Any]:
        name, dtype, shape = (port, "float32", [1, 4]) if isinstance(port, str) else port
        return {"name": name, "dtype": dtype, "shape": list(shape), "type": "tensor"}
