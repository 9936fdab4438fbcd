"""The pages about trainers run as printed, if the library is installed."""

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
    text = (ROOT / "docs" / "howto" / "trainers" / f"{page}.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_runs_as_printed(page: str, tmp_path: Path) -> None:
    pytest.importorskip(PAGES[page])
    program = [*blocks(page, "python"), "from leapp.integrations.__main__ import main"]
    folders = []
    for line in "".join(
        blocks(page, "sh")
    ).splitlines():  # in one process, because imports take long
        command, *arguments = shlex.split(line)
        assert command == "leapp-export"
        folders.append(tmp_path / arguments[arguments.index("-o") + 1])
        program.append(f"assert main({arguments}) == 0")
    (tmp_path / "snippets.py").write_text("\n".join(program))
    command = [sys.executable, "snippets.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [str(path / f"{path.name}.yaml") for path in folders]


def test_every_page_is_listed() -> None:
    folder = ROOT / "docs" / "howto" / "trainers"
    listed = (folder / "README.md").read_text()
    pages = {page.name for page in folder.glob("*.md")} - {"README.md"}
    assert all(f"({name})" in listed for name in pages)
