"""Trace running PyTorch policy pipelines, export them, and run them on a robot.

    import leapp
    from leapp import annotate

    leapp.start("walker")
    obs = annotate.input_tensors("policy", {"obs": raw})
    action = annotate.output_tensors("policy", {"action": model(obs)}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph()

    manager = leapp.InferenceManager("walker/walker.yaml")

Importing this package imports neither PyTorch nor a compiled module; running a bundle needs no
PyTorch at all.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import errors, onnx
from ._annotate import annotate
from ._diagnostics import Diagnostic, diagnostics
from ._export import export
from ._import import ImportedPolicy, import_onnx
from ._inventory import ExportedConstant, ExportedWeights, NodeInventory, inventory
from ._session import (
    ExportManager,
    ValidationResults,
    compile_graph,
    start,
    stop,
    trace,
)
from ._shadow import ShadowReport, ShadowRun, shadow
from .enums import InputKindEnum, OutputKindEnum
from .errors import *  # noqa: F403
from .patching import FunctionPatch
from .semantics import GraphConfigs, History, Limits, TemporalAxis, TensorSemantics

if TYPE_CHECKING:
    from .controller import Controller, replay
    from .inference_manager import InferenceManager, Verification
    from .supervisor import Supervisor

    __version__: str

__all__ = [
    "Controller",
    "Diagnostic",
    "ExportManager",
    "ExportedConstant",
    "ExportedWeights",
    "FunctionPatch",
    "GraphConfigs",
    "History",
    "ImportedPolicy",
    "InferenceManager",
    "InputKindEnum",
    "Limits",
    "NodeInventory",
    "OutputKindEnum",
    "ShadowReport",
    "ShadowRun",
    "Supervisor",
    "TemporalAxis",
    "TensorSemantics",
    "ValidationResults",
    "Verification",
    "__version__",
    "annotate",
    "compile_graph",
    "diagnostics",
    "export",
    "import_onnx",
    "inventory",
    "onnx",
    "replay",
    "shadow",
    "start",
    "stop",
    "trace",
]
__all__ += errors.__all__


#: Names that need the compiled runtime, which is loaded at their first use.
_LATE = {
    "InferenceManager": "inference_manager",
    "Verification": "inference_manager",
    "Controller": "controller",
    "replay": "controller",
    "Supervisor": "supervisor",
    "__version__": "_runtime",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{_LATE[name]}", __name__)
    return globals().setdefault(name, getattr(module, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
