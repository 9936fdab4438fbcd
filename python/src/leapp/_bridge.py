"""Export through PyTorch's own exporters: ``onnx-dynamo``, ``onnx-torchscript`` and ``pt2``.

The input is the TorchScript file that LEAPP writes for the pure graph of a node. PyTorch's
TorchScript exporter uses it directly; the others use the operators that it calls, as a program of
``torch.export``.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from . import _trace
from ._exported_program import find_executable
from .errors import LeappExportError, LeappImportError, LeappIoError

#: Parameters that torch.onnx.export(dynamo=True) has under the same name.
_DYNAMO_PARAMS = ("report", "verify", "optimize", "external_data")

#: Packages that PyTorch's exporters import but do not depend on.
_NEEDED = {"onnx-dynamo": ("onnx", "onnxscript")}

_OPSET = 20


def missing(backend: str) -> str:
    """Return the missing packages that a backend needs, by their names for pip."""
    needed = _NEEDED.get(backend, ())
    return " ".join(name for name in needed if importlib.util.find_spec(name) is None)


def export(
    backend: str,
    script: str,
    inputs: Sequence[tuple[str, str, Sequence[int], str]],
    outputs: Sequence[str],
    file: str,
    params: dict[str, Any],
) -> None:
    """Write a model file.

    Args:
        backend: ``"onnx-dynamo"``, ``"onnx-torchscript"``, ``"pt2"`` or ``"exported-program"``.
        script: The node as a TorchScript file.
        inputs: Name, type, shape and device of each input.
        outputs: Name of each output.
        file: The file to write.
        params: The node's backend parameters.
    """
    names = [name for name, _, _, _ in inputs]
    examples = tuple(
        torch.zeros(tuple(shape), dtype=getattr(torch, dtype), device=device)
        for _, dtype, shape, device in inputs
    )
    opset = params.get("opset_version", _OPSET)
    options = {"input_names": names, "output_names": [*outputs], "opset_version": opset}
    try:
        with _quietly(), torch.no_grad():
            module = torch.jit.load(script).eval()  # type: ignore[no-untyped-call]
            if backend == "onnx-torchscript":
                options["do_constant_folding"] = params.get("optimize", True)
                torch.onnx.export(module, examples, file, dynamo=False, **options)
            elif backend == "onnx-dynamo":
                given = {key: params[key] for key in _DYNAMO_PARAMS if key in params}
                options |= {"external_data": False} | given
                program = _program(module, examples, names)
                torch.onnx.export(program, (), file, dynamo=True, **options)
            else:
                # Writes to memory first, because libtorch ends the process if a file cannot be
                # written.
                buffer = io.BytesIO()
                torch.export.save(_program(module, examples, names), buffer)
                Path(file).write_bytes(buffer.getbuffer())
    except ImportError as error:
        raise LeappImportError.coded(
            "LP006",
            f"export_with='{backend}' goes through PyTorch's exporter, which needs a package that "
            f"is missing ({error}). Run 'pip install onnx onnxscript', or use export_with='onnx', "
            f"which needs neither.",
        ) from error
    except OSError as error:
        raise LeappIoError.coded("LP005", f"{file} could not be written: {error}") from error
    except Exception as error:
        raise LeappExportError.coded(
            "LP502",
            f"export_with='{backend}': PyTorch's exporter failed: {error}. export_with='onnx' and "
            "'jit' use LEAPP's own exporters.",
        ) from error
    if not backend.startswith("onnx"):
        _report_trust(Path(file))


def _report_trust(file: Path) -> None:
    """Warn about a program that a robot loads only if it trusts the bundle."""
    if reason := find_executable(file.read_bytes()):
        node = file.stem
        _trace.diagnose(
            "LP625",
            f"node {node!r}: its torch.export program contains executable code ({reason}). If you "
            'trust its author, load it with trust="code" (see docs/explanation/security.md)',
            node,
        )


def replay(file: str, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Run a program that ``export`` wrote as ``"pt2"``, and return its outputs."""
    with _quietly(), torch.no_grad():
        result = torch.export.load(file).module()(*inputs)
    return list(result) if isinstance(result, (tuple, list)) else [result]


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Suppress prints, deprecation warnings and other messages of the exporters."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def _program(
    module: Any, examples: tuple[torch.Tensor, ...], names: Sequence[str]
) -> torch.export.ExportedProgram:
    """Return the operators that the module calls, as a program of ``torch.export``."""
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(lambda *tensors: module(*tensors), pre_dispatch=True)(*examples)
    placeholders = graph.graph.find_nodes(op="placeholder")
    for placeholder, name in zip(placeholders, names, strict=True):
        identifier = "".join(c if c.isalnum() else "_" for c in name)
        placeholder.target = identifier if identifier[:1].isalpha() else f"input_{identifier}"
    owned = [*module.named_parameters(), *module.named_buffers()]
    weights = {tensor.data_ptr(): name.replace(".", "_") for name, tensor in owned}
    made = dict(graph.named_buffers())
    constants = graph.graph.find_nodes(op="get_attr")
    for constant in constants:
        known = weights.get(made[constant.target].data_ptr(), constant.target)
        graph.register_buffer(known, made[constant.target])
        constant.target = known
    for name in made.keys() - {constant.target for constant in constants}:
        delattr(graph, name)
    graph.recompile()
    program = torch.export.export(graph, examples)
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # lines of this exporter, with their directory
    return program
