"""The integration of mjlab, tested in the environment in which mjlab is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from leapp.errors import LeappImportError

ROOT = Path(__file__).resolve().parents[2]
MJLAB = ROOT / ".cache" / "mjlab" / "bin" / "python"
HERE = importlib.util.find_spec("mjlab") is not None


def test_in_the_environment_of_mjlab() -> None:
    # mjlab needs a different MuJoCo than this environment has.
    python = sys.executable if HERE else str(MJLAB)
    if not Path(python).exists():
        pytest.skip("mjlab is not installed; examples/08_go1_walks/install_mjlab.sh does it")
    command = [python, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, str(Path(__file__).with_name("mjlab_tasks.py"))],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-8000:]


@pytest.mark.skipif(HERE, reason="mjlab is installed")
def test_without_mjlab_the_package_is_named(tmp_path: Path) -> None:
    from leapp.integrations import mjlab

    with pytest.raises(LeappImportError, match=r"pip install mjlab.*\[LP006\]"):
        mjlab.export_checkpoint("Mjlab-Cartpole-Balance", tmp_path / "model.pt", tmp_path / "out")
    assert not (tmp_path / "out").exists()
