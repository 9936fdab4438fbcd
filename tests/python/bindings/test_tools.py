"""The module _tools: imports and replays, with their arguments and results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import small_bundles
from conftest import refused
from foreign_policies import Policy, mjlab_metadata

import leapp
from leapp import _tools


def recorded(folder: Path) -> tuple[Path, Path]:
    """Record four ticks; return the recording and the bundle."""
    bundle = small_bundles.affine(folder)
    controller = leapp.Controller(
        bundle, small_bundles.robot(folder), clock=lambda: 0.0, recording=folder / "run.mcap"
    )
    controller.start()
    for value in range(4):
        controller.set_sensor("q", [value] * 4)
        assert controller.update() == "running"
    return folder / "run.mcap", bundle


def test_an_import_returns_path_format_and_notes(tmp_path: Path) -> None:
    model = Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata())
    for given in (model, str(model)):
        path, form, notes = _tools.import_onnx(given, tmp_path / "go", None, [])
        assert (path, form) == (tmp_path / "go" / "go.yaml", "mjlab")
        assert isinstance(path, Path) and {type(note) for note in notes} <= {str}
    assert path.is_file()


def test_settings_replace_metadata(tmp_path: Path) -> None:
    model = Policy(24, 3).write(tmp_path / "policy.onnx", mjlab_metadata())
    with refused("LP823", "joint_names"):
        _tools.import_onnx(model, tmp_path / "go", None, [("joint_names", "a,a,b")])
    assert not (tmp_path / "go").exists()


@pytest.mark.parametrize(
    "settings", [None, {"a": "b"}, [("a",)], [("a", 1)], [(1, "a")], "ab", [("a", "b", "c")]]
)
def test_settings_are_pairs_of_strings(tmp_path: Path, settings: Any) -> None:
    with refused("LP002", "settings"):
        _tools.import_onnx(tmp_path / "policy.onnx", tmp_path / "go", None, settings)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(leapp.errors.LeappNotFoundError):
        _tools.import_onnx(tmp_path / "policy.onnx", tmp_path / "go", None, [])
    with pytest.raises(leapp.errors.LeappNotFoundError):
        _tools.replay(tmp_path / "run.mcap", small_bundles.affine(tmp_path), 0, 0, "")


def test_a_replay_that_agrees(tmp_path: Path) -> None:
    recording, bundle = recorded(tmp_path)
    assert _tools.replay(str(recording), str(bundle), 0, 0.0, "") == {
        "ticks": 4,
        "difference": None,
    }


def test_the_first_difference_is_a_tuple(tmp_path: Path) -> None:
    recording, bundle = recorded(tmp_path)
    other = small_bundles.recurrent(tmp_path)
    assert other == bundle
    report = _tools.replay(recording, other, 0.0, 0.0, "")
    tick, port, element, expected, computed = report["difference"]
    assert (tick, port, element, expected, computed) == (0, "n/y", 0, 1.0, 0.0)
    assert _tools.replay(recording, other, 0.0, 1e9, "")["difference"] is None


def test_it_is_loaded_at_its_first_use() -> None:
    program = (
        "import sys, leapp\n"
        "assert leapp.InferenceManager and leapp.Controller\n"
        "before = 'leapp._tools' in sys.modules\n"
        "try: leapp.import_onnx('none.onnx', 'none')\n"
        "except FileNotFoundError: pass\n"
        "print(before, 'leapp._tools' in sys.modules, 'leapp._trace' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False True False\n", done.stderr
