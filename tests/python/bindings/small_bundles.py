"""Bundles of one node and a robot for them, and the options that the bindings take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from ready_bundle import Bundle

JOINTS = ["a", "b", "c", "d"]


def affine(folder: Path) -> Path:
    """Write y = 2 x + 1, with the positions of four joints as input and output."""
    folder.mkdir(exist_ok=True)
    bundle = Bundle(folder).node("n", "affine.onnx", ["x"], ["y"]).input("n", "x").output("n", "y")
    for side, kind in (("inputs", "state/joint/position"), ("outputs", "target/joint/position")):
        bundle.models["n"][side][0].update(kind=kind, element_names=[None, JOINTS])
    bundle.pipeline["configs"] = {"frequency": 50}
    return Path(bundle.write())


def recurrent(folder: Path) -> Path:
    """Write y = x + h, h' = y / 2."""
    bundle = Bundle(folder).node("n", "recurrent.onnx", ["x", "h_in"], ["y", "h_out"])
    return Path(bundle.feedback("n/h_out", "n/h_in").input("n", "x").output("n", "y").write())


def same(folder: Path, dtype: str) -> Path:
    """Write a node that returns its three elements."""
    port = [dtype, [3]]
    bundle = Bundle(folder).node("n", f"same_{dtype}.onnx", [["x", *port]], [["y", *port]])
    return Path(bundle.input("n", "x").output("n", "y").write())


def robot(folder: Path, rate: float = 50) -> Path:
    """Write a robot with the joints of affine()."""
    path = folder / "robot.yaml"
    document = {
        "rate": rate,
        "joints": JOINTS,
        "sensors": {"q": {"kind": "state/joint/position"}},
        "actuators": {"m": {"kind": "target/joint/position"}},
    }
    path.write_text(yaml.safe_dump(document))
    return path


def settings(**changes: Any) -> dict[str, Any]:
    """Return the settings of _runtime.Manager, as InferenceManager passes them by default."""
    return {
        "engine": {},
        "nodes": {},
        "merge": True,
        "check_finite": False,
        "staleness": {},
        "deadline": None,
        "on_deadline_miss": None,
        "noise_seed": 0,
        "measure": False,
        "allow_outside_files": False,
        "trust": None,
        "allow_native": False,
        "max_tensor_bytes": 1 << 30,
        **changes,
    }
