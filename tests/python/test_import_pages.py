"""The programs of docs/howto/import run as printed, after the one that exports a policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_readme import ROOT, blocks, run_python

PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in (ROOT / "docs" / "howto" / "import").glob("*.md")
    if page.name != "README.md"
)


def test_every_format_has_a_page() -> None:
    text = (ROOT / "docs/howto/import/README.md").read_text()
    assert len(PAGES) == 6
    for page in PAGES:
        assert f"({Path(page).name})" in text


@pytest.mark.parametrize("page", PAGES)
def test_the_page(page: str, tmp_path: Path) -> None:
    (export,) = blocks("docs/howto/import/README.md", "python")
    (program,) = blocks(page, "python")
    run_python(export + program, tmp_path)
