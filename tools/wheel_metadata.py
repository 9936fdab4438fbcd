"""Dependencies of the wheel ``leapp``: the PyTorch that it is built against, and its own runtime.

scikit-build-core calls this before it builds anything, so missing packages are reported here.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Mapping
from pathlib import Path

CMAKE_LISTS = Path(__file__).resolve().parents[1] / "CMakeLists.txt"


def dynamic_metadata(
    settings: Mapping[str, object], project: Mapping[str, object]
) -> dict[str, list[str]]:
    """Return the requirements; end the build with a message if PyTorch is missing."""
    try:
        torch = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        raise SystemExit(
            "leapp is built against the PyTorch of its environment, and there is none: run "
            "'pip install torch scikit-build-core pybind11' in it, then "
            "'pip install --no-build-isolation' of leapp."
        ) from None
    version = re.search(r"project\(leapp VERSION ([0-9.]+)", CMAKE_LISTS.read_text())
    assert version is not None
    minor = ".".join(torch.split(".")[:2])
    needs = ["numpy>=1.26", f"leapp-runtime=={version[1]}", f"torch=={minor}.*"]
    return {"dependencies": needs}
