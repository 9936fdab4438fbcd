"""Converters to ONNX for operators that LEAPP does not know.

    @leapp.onnx.converter("mylib::softclip")
    def softclip(op):
        limit = op.constant(np.float32(op.number("limit")))
        ratio = op.emit("Div", [op.tensor("x"), limit])
        return op.emit("Mul", [op.emit("Tanh", [ratio]), limit])

A converter runs once for every call of the operator while a node is exported with
``export_with="onnx"``. It asks for arguments by their names in the operator's schema and returns
what stands for the operator's result, or a tuple where there are several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._trace import OnnxOp, OnnxValue

__all__ = ["Op", "converter", "convertible_ops", "register_converter", "remove_converter"]


class Op:
    """One call of an operator that is being converted. Valid while the converter runs."""

    def __init__(self, op: OnnxOp) -> None:
        """Wrap the compiled object."""
        self._op = op

    @property
    def name(self) -> str:
        """The qualified name, ``mylib::softclip``."""
        return self._op.name

    @property
    def opset_version(self) -> int:
        """The ONNX opset that the model is written for."""
        return self._op.opset_version

    @property
    def source(self) -> str:
        """The user's line, ``policy.py:42 in act``; empty when unknown."""
        return self._op.source

    def is_none(self, parameter: str) -> bool:
        """Whether an optional argument was left out."""
        return self._op.is_none(parameter)

    def tensor(self, parameter: str) -> OnnxValue | None:
        """A tensor, with ``dtype`` and ``shape``; None when it was left out."""
        return self._op.tensor(parameter)

    def tensors(self, parameter: str) -> list[OnnxValue | None]:
        """A list of tensors."""
        return self._op.tensors(parameter)

    def flag(self, parameter: str) -> bool:
        """A bool."""
        return self._op.flag(parameter)

    def integer(self, parameter: str) -> int:
        """An int."""
        return self._op.integer(parameter)

    def number(self, parameter: str) -> float:
        """A float, or an int as one."""
        return self._op.number(parameter)

    def text(self, parameter: str) -> str:
        """A str."""
        return self._op.text(parameter)

    def integers(self, parameter: str) -> list[int]:
        """A list of ints; None counts as an empty one."""
        return self._op.integers(parameter)

    def numbers(self, parameter: str) -> list[float]:
        """A list of floats; None counts as an empty one."""
        return self._op.numbers(parameter)

    def constant(self, value: npt.ArrayLike) -> OnnxValue:
        """A constant with the elements and the element type of a NumPy array or number."""
        return self._op.constant(value)

    def emit(
        self,
        op_type: str,
        inputs: Sequence[OnnxValue | None],
        attributes: Mapping[str, Any] | None = None,
        *,
        dtype: str | None = None,
        shape: Sequence[int] | None = None,
        domain: str = "",
        domain_version: int = 1,
    ) -> OnnxValue:
        """Add a node with one output.

        Args:
            op_type: The ONNX operator, ``"Gemm"``.
            inputs: Its inputs in order; None for one that is left out.
            attributes: Ints, floats, strs, or lists of one of them.
            dtype: Element type of the output, ``"float32"``. Default: that of the first result.
            shape: Shape of the output. Default: that of the first result.
            domain: Empty for ONNX's own operators; others must be known to the engine.
            domain_version: The domain's opset version.
        """
        output = (
            dtype or self.result_dtype(),
            list(self.result_shape() if shape is None else shape),
        )
        return self.emit_many(
            op_type, inputs, [output], attributes, domain=domain, domain_version=domain_version
        )[0]

    def emit_many(
        self,
        op_type: str,
        inputs: Sequence[OnnxValue | None],
        outputs: Sequence[tuple[str, Sequence[int]]],
        attributes: Mapping[str, Any] | None = None,
        *,
        domain: str = "",
        domain_version: int = 1,
    ) -> list[OnnxValue]:
        """Add a node with several outputs, each given as ``(dtype, shape)``."""
        return self._op.emit(
            op_type,
            list(inputs),
            dict(attributes or {}),
            [(dtype, list(shape)) for dtype, shape in outputs],
            domain,
            domain_version,
        )

    @property
    def result_count(self) -> int:
        """How many results the operator has."""
        return self._op.result_count

    def result_dtype(self, index: int = 0) -> str:
        """Element type of a result, ``"float32"``."""
        return self._op.result_dtype(index)

    def result_shape(self, index: int = 0) -> tuple[int, ...]:
        """Shape of a result."""
        return self._op.result_shape(index)

    def fail(self, reason: str, advice: str = "") -> None:
        """End the export with an error that names the operator and the user's line."""
        self._op.fail(reason, advice)

    def _set_results(self, returned: Any) -> None:
        values = returned if isinstance(returned, (tuple, list)) else (returned,)
        for index, value in enumerate(values):
            if value is not None:
                self._op.set_result(index, value)


Converter = Callable[[Op], Any]


def register_converter(name: str, function: Converter) -> None:
    """Let ``function`` convert the operator ``name``, also in place of LEAPP's own converter.

    Args:
        name: ``"namespace::name"`` or ``"namespace::name.overload"``.
        function: Takes an :class:`Op`; returns the value of its result, or a tuple of values.
    """
    from . import _trace

    def convert(op: OnnxOp) -> None:
        wrapped = Op(op)
        wrapped._set_results(function(wrapped))

    _trace.register_onnx_converter(name, convert)


def converter(name: str) -> Callable[[Converter], Converter]:
    """Register the decorated function as :func:`register_converter` does."""

    def decorate(function: Converter) -> Converter:
        register_converter(name, function)
        return function

    return decorate


def remove_converter(name: str) -> bool:
    """Take a registered converter away again. False when there was none."""
    from . import _trace

    return _trace.remove_onnx_converter(name)


def convertible_ops() -> list[str]:
    """The qualified names of all operators that can be converted whole, sorted."""
    from . import _trace

    return _trace.onnx_convertible_ops()
