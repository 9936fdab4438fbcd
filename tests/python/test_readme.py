"""The programs of the README run as printed, one after the other, in an empty directory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def run_python(code: str, folder: Path) -> str:
    """Return the output of the code; its source is in a file, for annotate.method to read."""
    (folder / "snippets.py").write_text(code)
    result = subprocess.run(
        [sys.executable, "snippets.py"], cwd=folder, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


# The C++ program ticks three times, the Python one once.
TWO_MORE_TICKS = """
commands = action[0].tolist()
for _ in range(2):
    outputs = robot.run_policy({"observe/joints": np.zeros((1, 8), np.float32)})
    commands += outputs["policy/action"][0].tolist()
print([round(value, 5) for value in commands])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory in which the Python blocks ran."""
    path = tmp_path_factory.mktemp("readme")
    code = "\n".join(blocks("README.md", "python"))
    printed = run_python(code + TWO_MORE_TICKS, path)
    (path / "printed").write_text(printed)
    return path


def test_the_python_example_exports_and_runs(folder: Path) -> None:
    names = {file.name for file in (folder / "walker").iterdir()}
    assert {"walker.yaml", "observe.onnx", "policy.onnx", "walker.png", "log.txt"} <= names
    assert "walker_initial_values.safetensors" in names


def test_the_cpp_example_prints_the_same(folder: Path) -> None:
    program = Path(os.environ.get("LEAPP_BUILD", ROOT / "build/release")) / "bin/readme"
    if not program.exists():
        pytest.skip(f"{program} was not built; `make test` builds it")
    # From a plain shell, a program of the build tree finds the environment's ONNX Runtime by
    # itself.
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    result = subprocess.run([program], cwd=folder, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    expected = eval((folder / "printed").read_text())
    assert [float(line) for line in result.stdout.split()] == pytest.approx(expected, abs=1e-4)


def test_every_link_has_a_target() -> None:
    pages = [str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")]
    for page in ("README.md", "CONTRIBUTING.md", *pages):
        text = (ROOT / page).read_text()
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)[)#]", text):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target} does not exist"
