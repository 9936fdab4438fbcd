"""Imports policies of other projects as bundles."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import expect


@dataclass(frozen=True)
class ImportedPolicy:
    """The result of an import.

    Args:
        yaml: The bundle's YAML file.
        format: The format of the description: ``"mjlab"``, ``"beyondmimic"``, ``"holosoma"``,
            ``"exploy"``, ``"unitree_rl_lab"`` or ``"rl_sar"``.
        notes: Assumptions and conversions, one sentence each.
    """

    yaml: Path
    format: str
    notes: tuple[str, ...]


def import_onnx(
    model: str | os.PathLike[str],
    target: str | os.PathLike[str],
    deploy: str | os.PathLike[str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> ImportedPolicy:
    """Convert a policy that another project exported as ONNX to a bundle. Needs no PyTorch.

    Args:
        model: The ONNX file.
        target: The output directory; its last part names the bundle.
        deploy: unitree_rl_lab's ``deploy.yaml`` or rl_sar's ``config.yaml``. Without it, the
            metadata of the model are used: those of mjlab, BeyondMimic, holosoma or Exploy.
        settings: Keys that are missing in the description or that replace its values; lists are
            comma-separated strings: ``{"joint_names": "hip,knee"}``.

    Raises:
        LeappValueError: LP821 to LP824. Nothing is written then.
    """
    from . import _tools

    given = {} if settings is None else settings
    expect(Mapping, given, "import_onnx(settings=..) takes a dict of strings")
    for key, value in given.items():
        for each in (key, value):
            expect(str, each, f"import_onnx settings: {key!r} must be a string")
    path, name, notes = _tools.import_onnx(model, target, deploy, [*given.items()])
    return ImportedPolicy(Path(path), name, tuple(notes))
