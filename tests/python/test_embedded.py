"""Example 10: a policy inside a program, for this machine, for aarch64 and for a Cortex-M."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "10_embedded_policy"
BUILD = Path(os.environ.get("LEAPP_BUILD", ROOT / "build/release"))

#: A toolchain file, the command that runs the program, and the required Debian packages.
TARGETS = {
    "this machine": (None, [], {"cmake": "cmake", "c++": "g++"}),
    "aarch64": (
        "aarch64.cmake",
        ["qemu-aarch64-static"],
        {
            "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
            "qemu-aarch64-static": "qemu-user-static",
        },
    ),
    "Cortex-M4": (
        "cortex_m/toolchain.cmake",
        ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-semihosting-config",
         "enable=on,target=native", "-kernel"],
        {"arm-none-eabi-g++": "gcc-arm-none-eabi", "qemu-system-arm": "qemu-system-arm"},
    ),
}  # fmt: skip


def run(command: list[str], **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def numbers(text: str) -> np.ndarray:
    return np.array([line.split() for line in text.splitlines()[-10:]], dtype=np.float64)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """Return the bundle, and the results of PyTorch."""
    folder = tmp_path_factory.mktemp("embedded")
    printed = run([sys.executable, str(EXAMPLE / "export.py"), str(folder)])
    return folder / "walker" / "walker.yaml", numbers(printed)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install LEAPP as a user has it: the command, and the package for CMake."""
    if not (BUILD / "bin" / "leapp").exists() or shutil.which("cmake") is None:
        pytest.skip(f"{BUILD} has no leapp command, or there is no cmake; `make test` builds it")
    prefix = tmp_path_factory.mktemp("installed")
    for component in ("runtime", "tools", "command", "dev"):
        run(["cmake", "--install", str(BUILD), "--component", component, "--prefix", str(prefix)])
    return prefix


@pytest.mark.parametrize("target", TARGETS)
def test_the_policy_computes_the_same_on(
    target: str, exported: tuple[Path, np.ndarray], installed: Path, tmp_path: Path
) -> None:
    toolchain, runner, programs = TARGETS[target]
    for program, package in programs.items():
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (apt-get install {package})")
    yaml, expected = exported
    configure = [
        "cmake",
        "-S", str(EXAMPLE),
        "-B", str(tmp_path),
        f"-Dleapp_DIR={next(installed.rglob('leappConfig.cmake')).parent}",
        f"-DBUNDLE={yaml}",
    ]  # fmt: skip
    if toolchain is not None:
        configure.append(f"-DCMAKE_TOOLCHAIN_FILE={EXAMPLE / toolchain}")
    run(configure)
    run(["cmake", "--build", str(tmp_path)])
    found = numbers(run([*runner, str(tmp_path / "embedded_policy")]))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
