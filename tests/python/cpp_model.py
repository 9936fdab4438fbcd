"""Compiles generated C++ models and runs them through their table (leapp/cpp_model.h)."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

#: Every warning that a user's project may enable.
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")


class Port(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int32),
        ("bytes", ctypes.c_size_t),
    )


_PREPARE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_RUN = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
)


class Table(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("node", ctypes.c_char_p),
        ("inputs", ctypes.POINTER(Port)),
        ("input_count", ctypes.c_size_t),
        ("outputs", ctypes.POINTER(Port)),
        ("output_count", ctypes.c_size_t),
        ("weight_bytes", ctypes.c_size_t),
        ("memory_bytes", ctypes.c_size_t),
        ("alignment", ctypes.c_size_t),
        ("errors", ctypes.POINTER(ctypes.c_char_p)),
        ("error_count", ctypes.c_size_t),
        ("prepare", _PREPARE),
        ("run", _RUN),
    )


def symbol(node: str) -> str:
    """Return the name of the function that the source of a node defines."""
    whole = "leapp_cpp_" + "".join(
        c if c.isascii() and c.isalnum() else "".join(f"_{byte:02x}" for byte in c.encode())
        for c in node
    )
    if len(whole) <= 160:
        return whole
    return whole[:126] + "_h" + hashlib.sha256(node.encode()).hexdigest()[:32]


def _aligned(size: int, alignment: int) -> tuple[Any, int]:
    memory = ctypes.create_string_buffer(size + alignment)
    start = ctypes.addressof(memory)
    return memory, start + (-start) % alignment


class CppModel:
    """The model of one node, compiled from its source and loaded into this process."""

    def __init__(self, source: Path, node: str, flags: Sequence[str] = ("-O1",)) -> None:
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "model.so")
            compiler = os.environ.get("CXX", "g++")
            command = [compiler, "-std=c++20", "-shared", "-fPIC", *flags, "-o", library, source]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise AssertionError(f"the source does not compile: {done.stderr[:2000]}")
            self._library = ctypes.CDLL(library)
        function = getattr(self._library, symbol(node))
        function.restype = ctypes.POINTER(Table)
        self.table: Table = function().contents
        weights = source.with_suffix(".weights")
        content = weights.read_bytes() if weights.exists() else b""
        assert len(content) == self.table.weight_bytes
        self._weights, start = _aligned(len(content), self.table.alignment)
        ctypes.memmove(start, content, len(content))
        self._memory, self._at = _aligned(self.table.memory_bytes, self.table.alignment)
        self.table.prepare(start, self._at)

    def __call__(self, feed: dict[str, torch.Tensor]) -> list[torch.Tensor]:
        """Run on inputs by name; return the outputs in order. Raise if the run fails."""
        inputs = []
        for port in self.table.inputs[: self.table.input_count]:
            value = feed[port.name.decode()].detach().contiguous()
            assert value.numel() * value.element_size() == port.bytes
            inputs.append(value)
        outputs = []
        for port in self.table.outputs[: self.table.output_count]:
            shape = port.dims[: port.rank] if port.rank else []
            outputs.append(torch.empty(shape, dtype=getattr(torch, port.dtype.decode())))
        into = (ctypes.c_void_p * max(len(inputs), 1))(*[t.data_ptr() for t in inputs])
        out_of = (ctypes.c_void_p * max(len(outputs), 1))(*[t.data_ptr() for t in outputs])
        status = self.table.run(into, out_of, self._at)
        if status:
            raise RuntimeError(self.table.errors[status - 1].decode())
        return outputs


def load(yaml_path: Path, node: str = "op", flags: Sequence[str] = ("-O1",)) -> Callable[..., Any]:
    """Return the model of a node of a bundle."""
    return CppModel(yaml_path.parent / f"{node}.cpp", node, flags)
