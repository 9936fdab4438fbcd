"""Writes the small model files that the runtime's tests run.

The files are in the directory of this script and are committed, so the C++ tests need neither
torch nor onnx. Run it again after a change here: python tests/data/models/make_models.py
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import TensorProto, helper

HERE = Path(__file__).parent
FLOAT = TensorProto.FLOAT
OPSET = 20


def value(name: str, shape: list[int | str], dtype: int = FLOAT) -> onnx.ValueInfoProto:
    """Return one input or output of a graph."""
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name: str, *numbers: float) -> onnx.TensorProto:
    """Return a float initializer: a scalar for one number, otherwise a vector."""
    return helper.make_tensor(name, FLOAT, [] if len(numbers) == 1 else [len(numbers)], numbers)


def make(
    name: str,
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    constants: list[onnx.TensorProto] = [],  # noqa: B006
    opset: int = OPSET,
) -> onnx.ModelProto:
    """Return one model."""
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    model.producer_name = ""
    return model


def save(name: str, *parts: Any, opset: int = OPSET) -> None:
    """Write {name}.onnx."""
    model = make(name, *parts, opset=opset)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, HERE / f"{name}.onnx")


def onnx_models() -> None:
    """Write the ONNX files."""
    node = helper.make_node
    x, y = value("x", [1, 4]), value("y", [1, 4])
    # y = 2 x + 1
    affine = [node("Mul", ["x", "two"], ["d"]), node("Add", ["d", "one"], ["y"])]
    ones = [constant("two", 2.0), constant("one", 1.0)]
    save("affine", affine, [x], [y], ones)
    save("affine_opset17", affine, [x], [y], ones, opset=17)
    save("affine_open_batch", affine, [value("x", ["n", 4])], [value("y", ["n", 4])], ones)
    # y = x + h_in, h_out = y / 2
    save(
        "recurrent",
        [node("Add", ["x", "h_in"], ["y"]), node("Mul", ["y", "half"], ["h_out"])],
        [x, value("h_in", [1, 4])],
        [y, value("h_out", [1, 4])],
        [constant("half", 0.5)],
    )
    # y = clip(a + b, -1, 1)
    save(
        "clamp_sum",
        [node("Add", ["a", "b"], ["s"]), node("Clip", ["s", "low", "high"], ["y"])],
        [value("a", [1, 4]), value("b", [1, 4])],
        [y],
        [constant("low", -1.0), constant("high", 1.0)],
    )
    # run = x > 0
    save(
        "gate",
        [node("Greater", ["x", "zero"], ["run"])],
        [value("x", [1])],
        [value("run", [1], TensorProto.BOOL)],
        [constant("zero", 0.0)],
    )
    # y = x + n
    save(
        "count",
        [node("Cast", ["n"], ["f"], to=FLOAT), node("Add", ["x", "f"], ["y"])],
        [x, value("n", [1], TensorProto.INT64)],
        [y],
    )
    # y = log(x): NaN for negative numbers
    save("log", [node("Log", ["x"], ["y"])], [x], [y])
    # The shape of y depends on the value of x.
    save("nonzero", [node("NonZero", ["x"], ["y"])], [x], [value("y", [2, "n"], TensorProto.INT64)])
    for name, dtype in {
        "bool": TensorProto.BOOL,
        "uint8": TensorProto.UINT8,
        "int8": TensorProto.INT8,
        "uint16": TensorProto.UINT16,
        "int16": TensorProto.INT16,
        "uint32": TensorProto.UINT32,
        "int32": TensorProto.INT32,
        "uint64": TensorProto.UINT64,
        "int64": TensorProto.INT64,
        "float16": TensorProto.FLOAT16,
        "bfloat16": TensorProto.BFLOAT16,
        "float64": TensorProto.DOUBLE,
        "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
        "float8_e5m2": TensorProto.FLOAT8E5M2,
    }.items():
        save(
            f"same_{name}",
            [node("Identity", ["x"], ["y"])],
            [value("x", [3], dtype)],
            [value("y", [3], dtype)],
        )


class Affine(torch.nn.Module):
    """y = 2 x + 1, with the factor as a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor + 1.0


class Recurrent(torch.nn.Module):
    """The same as recurrent.onnx; here an input and an output may share a name."""

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x + h
        return y, y * 0.5


class WritesInput(torch.nn.Module):
    """Changes its input in place."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.add_(1.0)


class ReturnsList(torch.nn.Module):
    """Two outputs in a list, the second one transposed in memory."""

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        return [x * 2.0, x.reshape(2, 2).t()]


class WrongShape(torch.nn.Module):
    """Returns fewer numbers than declared."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, :2]


class Raises(torch.nn.Module):
    """Fails when it runs."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mm(x, x)


def torch_models() -> None:
    """Write the TorchScript files."""
    for name, module in {
        "affine": Affine(),
        "recurrent": Recurrent(),
        "writes_input": WritesInput(),
        "returns_list": ReturnsList(),
        "wrong_shape": WrongShape(),
        "raises": Raises(),
    }.items():
        path = HERE / f"{name}.pt"
        torch.jit.script(module.eval()).save(str(path))
        strip_debug_files(path)


def translated_models() -> None:
    """Write the TorchScript files with a translation to ONNX."""
    node = helper.make_node
    x, y = value("in0", [1, 4]), value("out0", [1, 4])
    factor = TensorProto(name="factor", data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    for key, entry in {"location": "data/0", "offset": "0", "length": "4"}.items():
        factor.external_data.add(key=key, value=entry)  # the weight of the TorchScript model
    affine = [node("Mul", ["in0", "factor"], ["d"]), node("Add", ["d", "one"], ["out0"])]
    recurrent = [node("Add", ["in0", "in1"], ["out0"]), node("Mul", ["out0", "half"], ["out1"])]
    twice = [
        node("Mul", ["in0", "two"], ["out0"]),
        node("Reshape", ["in0", "square"], ["r"]),
        node("Transpose", ["r"], ["out1"], perm=[1, 0]),
    ]
    square = helper.make_tensor("square", TensorProto.INT64, [2], [2, 2])
    for name, module, model in (
        ("affine", Affine(), make("affine", affine, [x], [y], [factor, constant("one", 1.0)])),
        (
            "recurrent",
            Recurrent(),
            make(
                "recurrent",
                recurrent,
                [x, value("in1", [1, 4])],
                [y, value("out1", [1, 4])],
                [constant("half", 0.5)],
            ),
        ),
        (
            "returns_list",
            ReturnsList(),
            make(
                "returns_list",
                twice,
                [x],
                [y, value("out1", [2, 2])],
                [constant("two", 2.0), square],
            ),
        ),
    ):
        path = HERE / f"{name}_translated.pt"
        extra = {"leapp_translation.onnx": model.SerializeToString()}
        torch.jit.script(module.eval()).save(str(path), _extra_files=extra)
        strip_debug_files(path)


def strip_debug_files(path: Path) -> None:
    """Remove the path of the source on this machine."""
    with zipfile.ZipFile(path) as archive:
        entries = [
            (item, archive.read(item))
            for item in archive.infolist()
            if not item.filename.endswith(".debug_pkl")
        ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for item, data in entries:
            archive.writestr(item, data)


if __name__ == "__main__":
    onnx_models()
    torch_models()
    translated_models()
