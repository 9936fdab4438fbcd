"""The pages about trainers run as printed, where the library is installed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"rsl_rl": "rsl_rl.models", "sb3": "sb3_contrib", "skrl": "skrl", "torchrl": "torchrl"}


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / "integrations" / f"{page}.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_runs_as_printed(page: str, tmp_path: Path) -> None:
    pytest.importorskip(PAGES[page])
    (tmp_path / "snippets.py").write_text("\n".join(blocks(page, "python")))
    run([sys.executable, "snippets.py"], tmp_path)
    for line in "".join(blocks(page, "sh")).splitlines():
        command, *arguments = shlex.split(line)
        assert command == "leapp-export"
        folder = tmp_path / arguments[arguments.index("-o") + 1]
        written = run([sys.executable, "-m", "leapp.integrations", *arguments], tmp_path)
        assert written.strip() == str(folder / f"{folder.name}.yaml")
        assert Path(written.strip()).exists()


def run(command: list[str], folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_every_page_is_listed() -> None:
    listed = (ROOT / "docs" / "integrations" / "README.md").read_text()
    pages = {page.name for page in (ROOT / "docs" / "integrations").glob("*.md")} - {"README.md"}
    assert all(f"({name})" in listed for name in pages)
