"""`pip install --no-build-isolation .` makes a package that works in another environment."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    "LEAPP_BUILD" not in os.environ, reason="builds the package once more; `make test` runs it"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = ["-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, "."]
    result = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    (file,) = folder.glob("leapp-*.whl")
    return file


def test_holds_the_package_its_libraries_and_the_command(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    stems = {name.split(".")[0] for name in names}
    assert {"leapp/__init__", "leapp/_runtime", "leapp/_trace", "leapp/py"} <= stems
    assert {"leapp/lib/libleapp", "leapp/lib/libleapp_runtime"} <= stems
    assert "leapp/lib/libleapp_engine_torch" in stems
    assert any(name.endswith(".data/scripts/leapp") for name in names)
    assert not any(name.startswith("leapp/include") or "__pycache__" in name for name in names)


def test_runs_in_an_environment_without_torch(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    python = tmp_path / "bin" / "python"
    install = ["--python", python, "install", "-q", "--no-deps", wheel]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    command = subprocess.run([tmp_path / "bin/leapp", "--version"], capture_output=True, text=True)
    assert command.returncode == 0, command.stderr

    # NumPy is all that the new environment shares with this one.
    site = Path(pytest.importorskip("numpy").__file__).parents[1]
    (tmp_path / "shared").mkdir()
    for name in ("numpy", "numpy.libs"):
        (tmp_path / "shared" / name).symlink_to(site / name)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "shared")}
    code = "import leapp; print(leapp.InferenceManager.__name__, leapp.__file__)"
    module = subprocess.run([python, "-c", code], capture_output=True, text=True, env=environment)
    assert module.returncode == 0, module.stderr
    assert module.stdout.startswith(f"InferenceManager {tmp_path}")
