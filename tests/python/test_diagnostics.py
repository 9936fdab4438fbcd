"""Programs of docs/reference/diagnostics.md report their code, and each fix removes it."""

from __future__ import annotations

import contextlib
import re
import runpy
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import end_session

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "diagnostics.md"
PRELUDE = "import torch, leapp\nfrom leapp import annotate\n"


class Section(NamedTuple):
    """One code with two programs: one that leads to it, and one that does not."""

    code: str
    cause: str | None
    cure: str | None


def _sections() -> list[Section]:
    found = []
    for text in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        if (match := re.match(r"(LP\d{3}) ", text)) is not None:
            blocks = [*re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S), None, None]
            found.append(Section(match[1], blocks[0], blocks[1]))
    return found


SECTIONS = _sections()
_CAUSES = [pytest.param(s.code, s.cause, id=s.code) for s in SECTIONS if s.cause]
_CURES = [pytest.param(s.code, s.cure, id=s.code) for s in SECTIONS if s.cure]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _said(program: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """Return the outcome of the program: its error's code, the console, the log."""
    source = folder / "program.py"
    source.write_text(PRELUDE + program, encoding="utf-8")
    code = ""
    try:
        runpy.run_path(str(source), run_name="__main__")
    except Exception as error:
        code = f"{error} [{getattr(error, 'code', '')}]"
    finally:
        with contextlib.suppress(Exception):
            end_session()
    console = capfd.readouterr()
    logs = [log.read_text(encoding="utf-8") for log in folder.glob("*/log.txt")]
    return "\n".join([code, console.out, console.err, *logs])


def _contains(said: str, code: str) -> bool:
    return f"[{code}]" in said


@pytest.mark.parametrize(("code", "program"), _CAUSES)
def test_the_program_leads_to_its_code(
    code: str, program: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = _said(program, tmp_path, capfd)
    assert _contains(said, code), said


@pytest.mark.parametrize(("code", "program"), _CURES)
def test_the_cure_leads_to_no_error_and_not_to_its_code(
    code: str, program: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = _said(program, tmp_path, capfd)
    assert not said.partition("\n")[0], said
    assert not _contains(said, code), said


def test_codes_without_a_program_are_those_that_the_page_gives_a_reason_for() -> None:
    reasons = re.findall(r"^- (LP\d{3}): .+$", PAGE.read_text(encoding="utf-8"), re.M)
    assert reasons == [section.code for section in SECTIONS if section.cause is None]
