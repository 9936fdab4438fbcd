"""The engine of the backend ``pt2``: programs of ``torch.export``, which only Python can run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import LeappImportError, LeappValueError

if TYPE_CHECKING:
    import torch

#: Memory, dtype and shape of one port's buffer.
Buffer = tuple[memoryview, str, list[int]]


class ExportedProgramEngine:
    """A loaded ``.pt2`` file. The runtime calls ``bind`` once and then what it returns."""

    def __init__(self, node: str, path: str) -> None:
        try:
            import torch
        except ImportError as error:
            raise LeappImportError.coded(
                "LP006",
                f"node {node!r} is a torch.export program, which needs PyTorch "
                "('pip install torch')",
            ) from error
        self._torch = torch
        self._node = node
        try:
            self._module = torch.export.load(path).module()
        except Exception as error:
            raise LeappValueError.coded(
                "LP003",
                f"node {node!r}: {path} could not be loaded as a torch.export program: {error}",
            ) from error

    def __str__(self) -> str:
        return f"torch.export {self._torch.__version__}, CPU"

    def bind(self, inputs: list[Buffer], outputs: list[Buffer]) -> Callable[[], None]:
        """Return a function that runs the program on these buffers."""
        sources, targets = ([*map(self._tensor, buffers)] for buffers in (inputs, outputs))
        declared = [_type_of(target) for target in targets]

        def run() -> None:
            with self._torch.inference_mode():
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

    def _tensor(self, buffer: Buffer) -> torch.Tensor:
        memory, dtype, shape = buffer
        kind = getattr(self._torch, dtype)
        if len(memory) == 0:
            return self._torch.empty(shape, dtype=kind)
        return self._torch.frombuffer(memory, dtype=kind).view(shape)


def _type_of(tensor: torch.Tensor) -> tuple[torch.dtype, torch.Size]:
    return tensor.dtype, tensor.shape


def _named(types: list[tuple[torch.dtype, torch.Size]]) -> str:
    return ", ".join(f"{dtype} {list(shape)}" for dtype, shape in types)
