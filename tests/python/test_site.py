"""The programs of tutorials and guides run as printed, and the site is complete."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_readme import ROOT, blocks, run_python

#: Pages whose blocks are not programs, or that another test runs.
ELSEWHERE = {"install.md", "onnx.md", "cpp.md", "diagnostics.md", "command.md", "environment.md"}
PAGES = sorted(
    str(page.relative_to(ROOT))
    for folder in ("tutorials", "howto", "reference")
    for page in (ROOT / "docs" / folder).glob("*.md")
    if page.name not in ELSEWHERE
)
#: Programs of pages, with their names in tests/CMakeLists.txt and their output.
PROGRAMS = {
    "docs/tutorials/real_time.md": [("page_real_time", "100 ticks, ")],
    "docs/howto/running.md": [("page_running", "3\n5\n7\n"), ("page_running_c", "3\n5\n7\n")],
}


@pytest.mark.parametrize("page", PAGES)
def test_the_page(page: str, tmp_path: Path) -> None:
    run_python("\n".join(blocks(page, "python")), tmp_path)
    for name, prints in PROGRAMS.get(page, []):
        program = Path(os.environ.get("LEAPP_BUILD", ROOT / "build/release")) / "bin" / name
        if program.exists():
            done = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith(prints)
    command = Path(sys.executable).with_name("leapp")
    if not command.exists():
        pytest.skip(f"{command} is not installed; `make build` installs it")
    for line in "".join(blocks(page, "sh")).splitlines():
        words, _, remark = line.partition("#")
        arguments = [word for word in words.split()[1:] if word != "--strict"]
        done = subprocess.run([command, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == (5 if "exits with 5" in remark else 0), f"{line}: {done.stderr}"


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    for page in PAGES:
        assert page.removeprefix("docs/") in navigation, f"mkdocs.yml does not lead to {page}"


def test_the_site_is_complete(tmp_path: Path) -> None:
    python = ROOT / ".cache" / "docs" / "bin" / "python"
    if not python.exists():
        pytest.skip("MkDocs is not installed; `make docs` installs it")
    done = subprocess.run(
        [python, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for page in ("index", "tutorials/first_export", "source/include/leapp/controller.h"):
        assert (tmp_path / "site" / f"{page}.html").is_file()
    shutil.rmtree(tmp_path / "site")


@pytest.mark.parametrize("stub", ["_runtime", "_tools", "_trace"])
def test_the_reference_can_run_the_stubs(stub: str) -> None:
    """Read the signatures as pdoc does: from top to bottom, so classes must come before uses."""
    pytest.importorskip("torch")
    text = (ROOT / "python" / "src" / "leapp" / f"{stub}.pyi").read_text()
    exec(compile(text, stub, "exec"), {"__name__": f"leapp.{stub}", "__package__": "leapp"})
