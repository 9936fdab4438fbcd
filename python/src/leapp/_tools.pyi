"""The compiled desk tools: ``include/leapp/tools``. Loaded when one of them is first called."""

from pathlib import Path
from typing import Any

def import_onnx(
    model: str | Path, target: str | Path, deploy: str | Path, settings: list[tuple[str, str]]
) -> tuple[Path, str, list[str]]: ...
def replay(
    recording: str | Path, bundle: str | Path, rtol: float, atol: float, policy: str
) -> dict[str, Any]: ...
