"""The engine of the backend ``pt2``: programs of ``torch.export``, which only Python can run.

``torch.export.load`` unpickles and evaluates the content of a file, so it can run any code. It is
used only for trusted files; from others, the tensors and the graph are read as data.
"""

from __future__ import annotations

import io
import json
import math
import pickle
import zipfile
from collections.abc import Callable
from typing import Any

import torch

from . import _runtime
from .errors import LeappValueError

#: Memory, dtype and shape of one port's buffer.
Buffer = tuple[memoryview, str, list[int]]


class ExportedProgramEngine:
    """A loaded ``.pt2`` file. The runtime calls ``bind`` once, and then its result."""

    def __init__(self, node: str, path: str, data: bytes, trusted: bool) -> None:
        self._node = node
        try:
            self._module: Callable[..., Any] = (
                torch.export.load(io.BytesIO(data)).module() if trusted else _Program(data)
            )
        except _NotPlainError as error:
            raise LeappValueError.coded(
                "LP625",
                f"node {node!r}: {path} contains executable code ({error}). If you trust its "
                'author, load it with trust="code" (see docs/explanation/security.md)',
            ) from error
        except Exception as error:
            raise LeappValueError.coded(
                "LP003",
                f"node {node!r}: {path} could not be loaded as a torch.export program: "
                f"{_runtime.printable(str(error))}",
            ) from error

    def __str__(self) -> str:
        return f"torch.export {torch.__version__}, CPU"

    def bind(self, inputs: list[Buffer], outputs: list[Buffer]) -> Callable[[], None]:
        """Return a function that runs the program on these buffers."""
        sources, targets = ([*map(_tensor, buffers)] for buffers in (inputs, outputs))
        declared = [_type_of(target) for target in targets]

        def run() -> None:
            with torch.inference_mode():
                result = self._module(*sources)
                values = list(result) if isinstance(result, (tuple, list)) else [result]
                returned = [_type_of(value) for value in values]
                if returned != declared:
                    raise LeappValueError.coded(
                        "LP003",
                        f"outputs of {self._node} are declared as {_named(declared)}, but its "
                        f"model returned {_named(returned)}",
                    )
                for value, target in zip(values, targets, strict=True):
                    target.copy_(value)

        return run


def _tensor(buffer: Buffer) -> torch.Tensor:
    memory, dtype, shape = buffer
    kind = getattr(torch, dtype)
    if len(memory) == 0:
        return torch.empty(shape, dtype=kind)
    return torch.frombuffer(memory, dtype=kind).view(shape)


def find_executable(data: bytes) -> str:
    """Return why the program of a ``.pt2`` file runs only if it is trusted; empty if it may run."""
    try:
        _Program(data)
    except _NotPlainError as error:
        return str(error)
    return ""


class _NotPlainError(Exception):
    """Content of a program other than tensors and operators that compute."""


class _Archive:
    """The records of a ``.pt2`` file, read as data."""

    def __init__(self, data: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        names = self._zip.namelist()
        self._former = "serialized_exported_program.json" in names  # before PyTorch 2.8
        root = next((n for n in names if n.endswith("models/model.json")), None)
        if root is None and not self._former:
            raise ValueError("it has no models/model.json")
        self._root = (root or "").removesuffix("models/model.json")

    def module(self) -> dict[str, Any]:
        """Return the graph and its signature."""
        name = "serialized_exported_program.json" if self._former else "models/model.json"
        module: dict[str, Any] = self._json(name)["graph_module"]
        return module

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return parameters, buffers and constants by name."""
        if self._former:
            return self._pickled("constants") | self._pickled("state_dict")
        return self._stored("constants") | self._stored("weights")

    def _stored(self, kind: str) -> dict[str, torch.Tensor]:
        config = self._json(f"data/{kind}/model_{kind}_config.json")["config"]
        return {name: self._tensor(entry, f"data/{kind}/") for name, entry in config.items()}

    def _tensor(self, entry: dict[str, Any], folder: str) -> torch.Tensor:
        if entry["use_pickle"]:
            raise _NotPlainError("it holds an object that has to be unpickled")
        meta = entry["tensor_meta"]
        sizes, strides = ([_number(n) for n in meta[key]] for key in ("sizes", "strides"))
        dtype = _enum("scalar_type", meta["dtype"])
        if math.prod(sizes) == 0:
            return torch.empty(sizes, dtype=dtype)
        data = bytearray(self._read(folder + entry["path_name"]))
        flat = torch.frombuffer(data, dtype=dtype)
        return flat.as_strided(sizes, strides, _number(meta["storage_offset"]))

    def _pickled(self, kind: str) -> dict[str, torch.Tensor]:
        """Return tensors that PyTorch's restricted unpickler reads, which creates nothing else."""
        if not (data := self._read(f"serialized_{kind}.pt")):
            return {}
        try:
            found = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            raise _NotPlainError("it holds an object that has to be unpickled") from error
        if not isinstance(found, dict) or not all(
            isinstance(tensor, torch.Tensor) for tensor in found.values()
        ):
            raise _NotPlainError("it contains an object that is not a tensor")
        return found

    def _json(self, name: str) -> Any:
        return json.loads(self._read(name))

    def _read(self, name: str) -> bytes:
        entry = self._zip.getinfo(self._root + name)
        if entry.compress_type != zipfile.ZIP_STORED:
            raise _NotPlainError(f"its record {_runtime.printable(name)} is compressed")
        return self._zip.read(entry)


class _Program:
    """The tensors and the graph of a ``.pt2`` file, read without running any code."""

    def __init__(self, data: bytes) -> None:
        archive = _Archive(data)
        module, tensors = archive.module(), archive.tensors()
        self._values: dict[str, Any] = {}
        self._inputs: list[str] = []
        for spec in module["signature"]["input_specs"]:
            ((kind, entry),) = spec.items()
            if kind == "user_input":
                self._inputs.append(_tensor_name(entry["arg"]))
            elif kind in ("parameter", "buffer", "tensor_constant"):
                self._values[entry["arg"]["name"]] = tensors[entry[f"{kind}_name"]]
            else:
                raise _NotPlainError(f"it takes a {_runtime.printable(kind)}")
        self._outputs: list[str] = []
        for spec in module["signature"]["output_specs"]:
            ((kind, entry),) = spec.items()
            if kind != "user_output":
                raise _NotPlainError(f"it returns a {_runtime.printable(kind)}")
            self._outputs.append(_tensor_name(entry["arg"]))
        self._calls = [_Call(node) for node in module["graph"]["nodes"]]

    def __call__(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        values = {**self._values, **dict(zip(self._inputs, inputs, strict=True))}
        for call in self._calls:
            call.run(values)
        return [values[name] for name in self._outputs]


class _Call:
    """One operator of the graph, with its arguments."""

    def __init__(self, node: dict[str, Any]) -> None:
        root, _, target = node["target"].partition("torch.ops.aten.")
        name, _, overload = target.partition(".")
        if root or not _runtime.only_computes(name):
            raise _NotPlainError(f"it calls '{_runtime.printable(node['target'])}'")
        self._run = getattr(getattr(torch.ops.aten, name), overload)
        named = [e for e in node["inputs"] if e.get("kind") == 2]
        self._args = [_argument(e["arg"]) for e in node["inputs"] if e.get("kind") != 2]
        self._kwargs = {e["name"]: _argument(e["arg"]) for e in named}
        self._outputs = node["outputs"]

    def run(self, values: dict[str, Any]) -> None:
        results = self._run(
            *[argument(values) for argument in self._args],
            **{name: argument(values) for name, argument in self._kwargs.items()},
        )
        if len(self._outputs) == 1:
            results = [results]
        for output, result in zip(self._outputs, results, strict=True):
            ((kind, names),) = output.items()
            if kind == "as_tensors":
                values.update(zip((n["name"] for n in names), result, strict=True))
            elif kind == "as_tensor":
                values[names["name"]] = result


def _argument(arg: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    """Return a function that gets an argument's value from the values of the graph."""
    ((kind, value),) = arg.items()
    if kind == "as_tensor":
        return lambda values: values[value["name"]]
    if kind in ("as_tensors", "as_optional_tensors"):
        wrapped = [v if "as_none" in v or "as_tensor" in v else {"as_tensor": v} for v in value]
        parts = [_argument(v) for v in wrapped]
        return lambda values: [part(values) for part in parts]
    if kind == "as_none":
        constant: Any = None
    elif kind in ("as_scalar_type", "as_layout", "as_memory_format"):
        constant = _enum(kind.removeprefix("as_"), value)
    elif kind == "as_device":
        constant = torch.device(value["type"], value["index"] or 0)
    elif kind == "as_complex":
        constant = complex(value["real"], value["imag"])
    elif kind.removesuffix("s") in ("as_int", "as_float", "as_bool", "as_string"):
        constant = value
    else:
        raise _NotPlainError(f"an argument of it is '{_runtime.printable(kind)}'")
    return lambda values: constant


def _enum(kind: str, number: int) -> Any:
    """Return torch's value for a number that represents a type, a layout or a memory format."""
    from torch._export.serde import serialize  # takes seconds

    tables: dict[str, Any] = {
        "scalar_type": serialize._SERIALIZE_TO_TORCH_DTYPE,
        "layout": serialize._SERIALIZE_TO_TORCH_LAYOUT,
        "memory_format": serialize._SERIALIZE_TO_TORCH_MEMORY_FORMAT,
    }
    return tables[kind][number]


def _number(entry: dict[str, Any]) -> int:
    """Return a size. A size that is an expression would have to be evaluated."""
    if "as_int" not in entry:
        raise _NotPlainError("its sizes are expressions")
    return int(entry["as_int"])


def _tensor_name(arg: dict[str, Any]) -> str:
    if "as_tensor" not in arg:
        raise _NotPlainError("it has an input or output that is not a tensor")
    return str(arg["as_tensor"]["name"])


def _type_of(tensor: torch.Tensor) -> tuple[torch.dtype, torch.Size]:
    return tensor.dtype, tensor.shape


def _named(types: list[tuple[torch.dtype, torch.Size]]) -> str:
    return ", ".join(f"{dtype} {list(shape)}" for dtype, shape in types)
