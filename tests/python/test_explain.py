"""``leapp explain``: a section of the diagnostics page, in the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_inference_cli import COMMAND, leapp

pytestmark = pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")

DOCS = Path(__file__).resolve().parents[2] / "docs"


def codes(page: str, pattern: str) -> list[str]:
    return re.findall(pattern, (DOCS / page).read_text(), re.MULTILINE)


@pytest.mark.parametrize("given", ["LP301", "lp301", "[LP301]", "301"])
def test_a_code_is_found_however_it_is_written(given: str) -> None:
    shown = leapp("explain", given).stdout
    assert shown.startswith("LP301 ")
    assert "\n## " not in shown


def test_every_section_and_rule_is_complete() -> None:
    for code in codes("reference/diagnostics.md", r"^## (LP\d+) ")[::12]:
        assert leapp("explain", code).stdout.startswith(f"{code} ")
    assert leapp("explain", "B1").stdout.startswith("B1 The file MUST ")
    last = codes("reference/bundle.md", r"^- \*\*(B\d+)\*\*")[-1]
    assert len(leapp("explain", last).stdout) > 20


def test_links_are_reduced_to_their_text() -> None:
    assert "](" not in leapp("explain", "LP413").stdout


def test_an_unknown_code_is_a_usage_error() -> None:
    assert "[LP701]" in leapp("explain", "LP", code=2).stderr
    assert leapp("explain", code=2).stdout == ""
