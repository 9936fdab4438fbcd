"""The compiled tools: ``include/leapp/tools``. Loaded at their first use."""

from pathlib import Path
from typing import Any

def import_onnx(
    model: str | Path, target: str | Path, deploy: str | Path, settings: list[tuple[str, str]]
) -> tuple[Path, str, list[str]]: ...
def replay(
    recording: str | Path, bundle: str | Path, rtol: float, atol: float, policy: str
) -> dict[str, Any]: ...
