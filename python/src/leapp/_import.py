"""Bundles out of policies that other projects exported."""

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
        notes: Assumptions and translations, one sentence each.
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
    """Make a bundle of a policy that another project exported as ONNX. Needs no PyTorch.

    Args:
        model: The ONNX file.
        target: The folder to write; its last part names the bundle.
        deploy: unitree_rl_lab's ``deploy.yaml`` or rl_sar's ``config.yaml``. Without it, metadata
            of the model say how it is deployed: those of mjlab, BeyondMimic, holosoma or Exploy.
        settings: Keys that the description lacks, or whose values are to be replaced; lists are
            texts with commas: ``{"joint_names": "hip,knee"}``.

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
