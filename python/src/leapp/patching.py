"""Replacing functions while a session is tracing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import LeappValueError, expect

__all__ = ["FunctionPatch"]


@dataclass(frozen=True)
class FunctionPatch:
    """A function that replaces another one for traced values: ``leapp.start(patching=[..])``.

    Args:
        module: The module (or class) that holds the function.
        function_name: The function's name in it.
        replacement: Called instead, with the same arguments, if one of them is traced.
    """

    module: Any
    function_name: str
    replacement: Callable[..., Any]

    def __post_init__(self) -> None:
        name = getattr(self.module, "__name__", repr(self.module))
        expect(str, self.function_name, "FunctionPatch function_name must be a string")
        what = f"FunctionPatch replacement of {name}.{self.function_name}"
        expect(Callable, self.replacement, f"{what} must be callable")
        if not callable(getattr(self.module, self.function_name, None)):
            raise LeappValueError.at_caller(
                "LP003", f"FunctionPatch: {name} has no function '{self.function_name}'."
            )


def checked_patches(patching: Any) -> list[FunctionPatch]:
    """Return the patches as a list; raise if one is not a patch or a target repeats."""
    if patching is None:
        return []
    patches = [patching] if isinstance(patching, FunctionPatch) else list(patching)
    targets: set[tuple[int, str]] = set()
    for patch in patches:
        expect(FunctionPatch, patch, "leapp.start(patching=..) takes FunctionPatch objects")
        target = (id(patch.module), patch.function_name)
        if target in targets:
            raise LeappValueError.at_caller(
                "LP003",
                f"leapp.start(patching=..) replaces {patch.function_name}() of "
                f"{getattr(patch.module, '__name__', patch.module)} twice; name it once.",
            )
        targets.add(target)
    return patches
