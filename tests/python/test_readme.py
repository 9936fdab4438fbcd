"""The README's programs run as printed, one after the other, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the Python blocks ran."""
    path = tmp_path_factory.mktemp("readme")
    code = (
        "\n".join(blocks("python")) + "\nprint([round(value, 5) for value in action[0].tolist()])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    (path / "printed").write_text(result.stdout)
    return path


def test_the_python_example_exports_and_runs(folder: Path) -> None:
    names = {file.name for file in (folder / "walker").iterdir()}
    assert {"walker.yaml", "observe.onnx", "policy.onnx", "walker.png", "log.txt"} <= names
    assert "walker_initial_values.safetensors" in names


def test_the_cpp_example_prints_the_same(folder: Path) -> None:
    program = Path(os.environ.get("LEAPP_BUILD", ROOT / "build/release")) / "bin/readme"
    if not program.exists():
        pytest.skip(f"{program} was not built; `make test` builds it")
    # From a plain shell: a program of the build tree finds the environment's ONNX Runtime itself.
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    result = subprocess.run([program], cwd=folder, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    expected = eval((folder / "printed").read_text())
    assert [float(line) for line in result.stdout.split()] == pytest.approx(expected, abs=1e-4)


def test_every_link_leads_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "docs/architecture.md"):
        text = (ROOT / page).read_text()
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target} does not exist"
