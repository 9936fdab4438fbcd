"""The wheels work in a separate environment.

pip builds them with the project's own ``pyproject.toml`` files from an existing build tree;
``make wheel`` compiles them from scratch, as a user's pip does, and runs the same tests on them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    "LEAPP_BUILD" not in os.environ, reason="needs the build tree; `make test` names it"
)

#: Replaces the project's CMakeLists.txt: installs a build tree instead of compiling one.
INSTALL = """
cmake_minimum_required(VERSION 3.25)
{project}
foreach(target leapp leapp_engine_torch _trace leapp_package)
  add_custom_target(${{target}})
endforeach()
function(install_built component folder)
  install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${{CMAKE_COMMAND}}
    --install {build} --component ${{component}} --prefix ${{folder}})" COMPONENT ${{component}})
endfunction()
install_built(python [[${{CMAKE_INSTALL_PREFIX}}]])
install_built(python_trace [[${{CMAKE_INSTALL_PREFIX}}]])
install_built(python_scripts ${{SKBUILD_SCRIPTS_DIR}})
"""


class Wheel(NamedTuple):
    """A wheel's file, its contents and its metadata."""

    file: Path
    names: list[str]
    metadata: str

    @property
    def stems(self) -> set[str]:
        return {name.split(".")[0] for name in self.names}


def _read(file: Path) -> Wheel:
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        return Wheel(file, names, archive.read(metadata).decode())


def _from_the_build_tree(folder: Path) -> Path:
    for name in ("README.md", "LICENSE", "pyproject.toml", "tools/wheel_metadata.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "python/runtime", folder / "python/runtime")
    lines = (ROOT / "CMakeLists.txt").read_text().splitlines()
    project = next(line for line in lines if line.startswith("project("))
    text = INSTALL.format(project=project, build=os.environ["LEAPP_BUILD"])
    (folder / "CMakeLists.txt").write_text(text)
    command = [sys.executable, *"-m pip wheel -q --no-build-isolation --no-deps -w".split()]
    command += ["wheels", "./python/runtime", "."]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder / "wheels"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Wheel]:
    """Return both wheels, by the names of their packages."""
    if "LEAPP_WHEELS" in os.environ:
        folder = Path(os.environ["LEAPP_WHEELS"])
    else:
        folder = _from_the_build_tree(tmp_path_factory.mktemp("wheel"))
    return {file.name.split("-")[0]: _read(file) for file in folder.glob("*.whl")}


def test_the_runtime_has_the_package_its_library_and_the_command(wheels: dict[str, Wheel]) -> None:
    wheel = wheels["leapp_runtime"]
    assert {"leapp/__init__", "leapp/_runtime", "leapp/_tools", "leapp/py"} <= wheel.stems
    assert {"leapp/lib/libleapp_runtime", "leapp/lib/libleapp_tools"} <= wheel.stems
    assert any(name.endswith(".data/scripts/leapp") for name in wheel.names)
    assert not any("include" in name or "__pycache__" in name for name in wheel.names)
    assert wheel.file.stat().st_size < 5_000_000


def test_the_other_adds_tracing_to_it(wheels: dict[str, Wheel]) -> None:
    wheel = wheels["leapp"]
    assert {"leapp/_trace", "leapp/_built_for", "leapp/lib/libleapp"} <= wheel.stems
    assert "leapp/lib/libleapp_engine_torch" in wheel.stems
    files = [name for name in wheel.names if not name.startswith("leapp-")]
    assert not set(files) & set(wheels["leapp_runtime"].names), "each file is in one of them"
    (scripts,) = (name for name in wheel.names if name.endswith(".dist-info/entry_points.txt"))
    assert b"leapp-export" in zipfile.ZipFile(wheel.file).read(scripts)


def test_requirements_name_the_runtime_and_the_torch_it_was_built_with(
    wheels: dict[str, Wheel],
) -> None:
    torch = pytest.importorskip("torch")
    needs = Parser().parsestr(wheels["leapp"].metadata).get_all("Requires-Dist")
    version = Parser().parsestr(wheels["leapp_runtime"].metadata)["Version"]
    assert f"leapp-runtime=={version}" in needs
    assert f"torch=={'.'.join(torch.__version__.split('.')[:2])}.*" in needs
    assert "torch" not in wheels["leapp_runtime"].metadata.split("\n\n")[0]


def test_runs_in_an_environment_without_torch(wheels: dict[str, Wheel], tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    python = tmp_path / "bin" / "python"
    install = ["--python", python, "install", "-q", "--no-deps", wheels["leapp_runtime"].file]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    command = subprocess.run([tmp_path / "bin/leapp", "--version"], capture_output=True, text=True)
    assert command.returncode == 0, command.stderr

    # The new environment shares only NumPy with this one.
    site = Path(pytest.importorskip("numpy").__file__).parents[1]
    (tmp_path / "shared").mkdir()
    for name in ("numpy", "numpy.libs"):
        (tmp_path / "shared" / name).symlink_to(site / name)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "shared")}
    code = "import leapp; print(leapp.InferenceManager.__name__, leapp.__file__)"
    module = subprocess.run([python, "-c", code], capture_output=True, text=True, env=environment)
    assert module.returncode == 0, module.stderr
    assert module.stdout.startswith(f"InferenceManager {tmp_path}")


def test_the_installed_version_is_that_of_the_sources() -> None:
    import importlib.metadata

    import leapp

    for package in ("leapp", "leapp-runtime"):
        assert importlib.metadata.version(package) == leapp.__version__


def test_without_torch_the_build_names_the_packages(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    code = "from wheel_metadata import dynamic_metadata; dynamic_metadata({}, {})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    build = subprocess.run(
        [tmp_path / "bin/python", "-c", code], capture_output=True, text=True, env=environment
    )
    assert build.returncode == 1
    assert "pip install torch" in build.stderr
    assert "Traceback" not in build.stderr


def test_the_manual_page_names_every_command() -> None:
    shown = subprocess.run(["leapp", "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([a-z]+) ", re.split("(?i)subcommands:", shown)[1], re.MULTILINE)
    page = (ROOT / "cli/leapp.1").read_text(encoding="utf-8")
    assert re.findall(r"^\.TP\n\.B ([a-z]+)$", page, re.MULTILINE) == commands
