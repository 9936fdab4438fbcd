"""The compiled tools: ``include/leapp/tools``. Loaded at their first use."""

from os import PathLike
from pathlib import Path
from typing import Any

def import_onnx(
    model: str | PathLike[str],
    target: str | PathLike[str],
    deploy: str | PathLike[str] | None,
    settings: list[tuple[str, str]],
) -> tuple[Path, str, list[str]]: ...
def replay(
    recording: str | Path, bundle: str | Path, rtol: float, atol: float, policy: str
) -> dict[str, Any]: ...
