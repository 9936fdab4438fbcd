"""Converters to ONNX for operators that LEAPP does not know.

    @leapp.onnx.converter("mylib::softclip")
    def softclip(op):
        limit = op.constant(np.float32(op.number("limit")))
        ratio = op.emit("Div", [op.tensor("x"), limit])
        return op.emit("Mul", [op.emit("Tanh", [ratio]), limit])

A converter runs once for every call of the operator while a node is exported with
``export_with="onnx"``. It reads arguments by their names in the operator's schema and returns the
value of the operator's result, or a tuple for several results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._trace import Op

__all__ = ["Op", "converter", "convertible_ops", "register_converter", "remove_converter"]

Converter = Callable[["Op"], Any]


def register_converter(name: str, function: Converter) -> None:
    """Register the converter of an operator; it replaces a built-in one.

    Args:
        name: ``"namespace::name"`` or ``"namespace::name.overload"``.
        function: Takes an :class:`Op`; returns the value of its result, or a tuple of values.
    """
    from . import _trace

    _trace.register_onnx_converter(name, function)


def converter(name: str) -> Callable[[Converter], Converter]:
    """Register the decorated function, as :func:`register_converter` does."""

    def decorate(function: Converter) -> Converter:
        register_converter(name, function)
        return function

    return decorate


def remove_converter(name: str) -> bool:
    """Unregister a converter. Return False if there was none."""
    from . import _trace

    return _trace.remove_onnx_converter(name)


def convertible_ops() -> list[str]:
    """Return the qualified names of all operators with a converter, sorted."""
    from . import _trace

    return _trace.onnx_convertible_ops()


def __getattr__(name: str) -> Any:
    """Load the compiled class on first access."""
    if name != "Op":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._trace import Op

    globals()[name] = Op
    return Op
