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
        torch = self._torch
        module, node = self._module, self._node
        sources = [self._tensor(buffer) for buffer in inputs]
        targets = [self._tensor(buffer) for buffer in outputs]

        def run() -> None:
            with torch.inference_mode():
                result = module(*sources)
                values = list(result) if isinstance(result, (tuple, list)) else [result]
                if len(values) != len(targets):
                    raise LeappValueError.coded(
                        "LP003",
                        f"its model returned {len(values)} outputs, "
                        f"the bundle declares {len(targets)}",
                    )
                for value, target in zip(values, targets, strict=True):
                    if value.shape != target.shape or value.dtype != target.dtype:
                        raise LeappValueError.coded(
                            "LP003",
                            f"an output of {node} is declared as {target.dtype} "
                            f"{list(target.shape)}, but its model returned {value.dtype} "
                            f"{list(value.shape)}",
                        )
                    target.copy_(value)

        return run

    def _tensor(self, buffer: Buffer) -> torch.Tensor:
        memory, dtype, shape = buffer
        kind = getattr(self._torch, dtype)
        if len(memory) == 0:
            return self._torch.empty(shape, dtype=kind)
        return self._torch.frombuffer(memory, dtype=kind).view(shape)
