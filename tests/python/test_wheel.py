"""The wheel works in another environment.

pip makes it with the project's own ``pyproject.toml`` out of what is built already; ``make wheel``
compiles it from nothing, as a user's pip does, and has the same tests look at it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    "LEAPP_BUILD" not in os.environ, reason="needs the build tree; `make test` names it"
)

#: Stands for the project's CMakeLists.txt: installs a build tree instead of compiling one.
INSTALL = """
cmake_minimum_required(VERSION 3.25)
{project}
function(install_built component folder)
  install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${{CMAKE_COMMAND}}
    --install {build} --component ${{component}} --prefix ${{folder}})" COMPONENT ${{component}})
endfunction()
install_built(python [[${{CMAKE_INSTALL_PREFIX}}]])
install_built(python_scripts ${{SKBUILD_SCRIPTS_DIR}})
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "LEAPP_WHEEL" in os.environ:
        return Path(os.environ["LEAPP_WHEEL"])
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    lines = (ROOT / "CMakeLists.txt").read_text().splitlines()
    project = next(line for line in lines if line.startswith("project("))
    text = INSTALL.format(project=project, build=os.environ["LEAPP_BUILD"])
    (folder / "CMakeLists.txt").write_text(text)
    command = ["-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, "."]
    result = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True)
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
    (scripts,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
    assert b"leapp-export" in zipfile.ZipFile(wheel).read(scripts)
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
