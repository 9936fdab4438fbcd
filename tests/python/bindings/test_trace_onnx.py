"""Converters in Python: arguments of the operator, constants, attributes and results."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import _trace, annotate

NAME = "leapp_bindings::mixed"


@torch.library.custom_op(NAME, mutates_args=())
def mixed(
    x: torch.Tensor, n: int, scale: float, mode: str, sizes: list[int], flag: bool = True,
    bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    return x * scale, x.sum()


@mixed.register_fake
def _(x: Any, n: Any, scale: Any, mode: Any, sizes: Any, flag: Any = True, bias: Any = None) -> Any:
    return torch.empty_like(x), x.new_empty(())


Use = Callable[[Callable[[Any], Any]], Any]


@pytest.fixture
def export(bench: Workbench) -> Iterator[Use]:
    """Return a function that exports one call with a converter, and loads the model."""

    def run(function: Callable[[Any], Any]) -> Any:
        _trace.register_onnx_converter(NAME, function)
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2, 3)})
            y, z = mixed(x, 7, 2, "wide", [1, 2])
            annotate.output_tensors("n", {"y": y, "z": z}, export_with="onnx")
        bench.compile(validate=False)
        return onnx.load(bench.path("g", "n.onnx"))

    yield run
    _trace.remove_onnx_converter(NAME)


def finish(op: Any) -> Any:
    scaled = op.emit("Mul", [op.tensor("x"), op.constant(np.float32(op.number("scale")))])
    total = op.emit("ReduceSum", [op.tensor("x")], {"keepdims": 0}, shape=[])
    return scaled, total


def test_arguments_have_pythons_types(export: Use) -> None:
    seen: dict[str, Any] = {}

    def convert(op: Any) -> Any:
        x = op.tensor("x")
        seen.update(
            op=(op.name, op.result_count, op.result_dtype(), op.result_shape(1)),
            x=(x.dtype, x.shape), n=op.integer("n"), scale=op.number("scale"), mode=op.text("mode"),
            sizes=op.integers("sizes"), flag=op.flag("flag"), bias=op.tensor("bias"),
            missing=(op.is_none("bias"), op.is_none("x")), source=op.source,
            opset=type(op.opset_version),
        )  # fmt: skip
        return finish(op)

    export(convert)
    assert __file__ in seen.pop("source")
    assert seen == {
        "op": (NAME, 2, "float32", ()),
        "x": ("float32", (2, 3)),
        "n": 7,
        "scale": 2.0,
        "mode": "wide",
        "sizes": [1, 2],
        "flag": True,
        "bias": None,
        "missing": (True, False),
        "opset": int,
    }


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (np.float32(1.5), "float32", ()),
        (2.5, "float64", ()),
        (True, "bool", ()),
        (np.arange(6).reshape(2, 3).T, "int64", (3, 2)),
        (np.zeros((0, 2), np.int8), "int8", (0, 2)),
        ([[1, 2]], "int64", (1, 2)),
        (np.arange(3, dtype=np.uint16)[::-1], "uint16", (3,)),
    ],
    ids=repr,
)
def test_constants(export: Use, value: Any, dtype: str, shape: tuple[int, ...]) -> None:
    made: list[tuple[str, tuple[int, ...]]] = []

    def convert(op: Any) -> Any:
        constant = op.constant(value)
        made.append((constant.dtype, constant.shape))
        op.emit("Identity", [constant], dtype=dtype, shape=shape)
        return finish(op)

    export(convert)
    assert made == [(dtype, shape)]


@pytest.mark.parametrize("kind", ["<f4", ">f4", ">i2", ">c8"])
def test_constants_of_another_byte_order(export: Use, kind: str) -> None:
    value = np.array([1, 2, 300], kind)

    def convert(op: Any) -> Any:
        scaled, total = finish(op)
        constant = op.constant(value)
        [scaled] = op.emit_many("Own", [scaled, constant], [("float32", [2, 3])], domain="mine")
        return scaled, total

    model = export(convert)
    [node] = [node for node in model.graph.node if node.op_type == "Own"]
    [found] = [each for each in model.graph.initializer if each.name == node.input[1]]
    array = onnx.numpy_helper.to_array(found)
    assert (array.dtype.name, array.tolist()) == (value.dtype.name, value.tolist())


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, onnx.AttributeProto.INT),
        (-3, onnx.AttributeProto.INT),
        (0.5, onnx.AttributeProto.FLOAT),
        ("text", onnx.AttributeProto.STRING),
        ([1, 2], onnx.AttributeProto.INTS),
        ((0.5, 2.0), onnx.AttributeProto.FLOATS),
        (["a", "b"], onnx.AttributeProto.STRINGS),
    ],
    ids=repr,
)
def test_attributes(export: Use, value: Any, kind: int) -> None:
    def convert(op: Any) -> Any:
        scaled, total = finish(op)
        [scaled] = op.emit_many(
            "Own", [scaled], [("float32", [2, 3])], {"value": value}, domain="mine"
        )
        return scaled, total

    model = export(convert)
    [node] = [node for node in model.graph.node if node.op_type == "Own"]
    assert (node.domain, node.attribute[0].type) == ("mine", kind)
    found = onnx.helper.get_attribute_value(node.attribute[0])
    expected = list(value) if isinstance(value, (list, tuple)) else value
    if kind == onnx.AttributeProto.STRING:
        expected = value.encode()
    elif kind == onnx.AttributeProto.STRINGS:
        expected = [each.encode() for each in value]
    assert found == expected


@pytest.mark.parametrize(
    ("use", "code"),
    [
        (lambda op: op.emit("Identity", [op.tensor("x")], dtype="float33"), "LP003"),
        (lambda op: op.constant(np.ones(2, "U3")), "LP003"),
        (lambda op: op.tensor("y"), "LP508"),
        (lambda op: op.integer("mode"), "LP508"),
        (lambda op: None, "LP508"),
        (lambda op: (op.tensor("x"),) * 3, "LP508"),
        (lambda op: op.fail("never"), "LP502"),
    ],
    ids=["dtype", "text", "parameter", "kind", "no result", "too many results", "fail"],
)
def test_wrong_uses_end_the_export(export: Use, use: Callable[[Any], Any], code: str) -> None:
    with refused(code):
        export(use)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_exception_ends_the_export(export: Use, error: type[BaseException]) -> None:
    def convert(op: Any) -> Any:
        raise error

    with pytest.raises(error):
        export(convert)


def test_a_converter_lives_while_it_is_registered() -> None:
    class Convert:
        def __call__(self, op: Any) -> None: ...

    first, second = Convert(), Convert()
    gone = [weakref.ref(first), weakref.ref(second)]
    _trace.register_onnx_converter(NAME, first)
    del first
    gc.collect()
    assert gone[0]() is not None
    _trace.register_onnx_converter(NAME, second)
    del second
    gc.collect()
    assert [each() is None for each in gone] == [True, False]
    assert _trace.remove_onnx_converter(NAME)
    gc.collect()
    assert gone[1]() is None
    assert not _trace.remove_onnx_converter(NAME)


@pytest.mark.parametrize("name", ["", "softclip", "mylib:softclip"])
def test_a_converter_belongs_to_a_qualified_name(name: str) -> None:
    with refused("LP507"):
        _trace.register_onnx_converter(name, print)
    with pytest.raises(TypeError):
        leapp.onnx.register_converter("mylib::op", 3)  # type: ignore[arg-type]
