"""Every program of docs/diagnostics.md says what its section is about, and every cure cures it."""

from __future__ import annotations

import contextlib
import re
import runpy
from pathlib import Path
from typing import NamedTuple

import pytest

import leapp

PAGE = Path(__file__).resolve().parents[2] / "docs" / "diagnostics.md"
PRELUDE = "import torch, leapp\nfrom leapp import annotate\n"


class Section(NamedTuple):
    """One code's: the program that leads to it, and the one that does not."""

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

# What tracing sessions say has no code of its own yet; until then it is known by these words.
_WORDS = {
    "LP101": "no active tracing session",
    "LP102": "still tracing",
    "LP103": "still executing",
    "LP105": "was never called for it",
    "LP106": "opened by another thread",
    "LP107": "never completed",
    "LP108": "Duplicate i/o name",
    "LP109": "Reentering pi with new i/o",
    "LP110": "Mixing active contexts",
    "LP111": "non-traced tensors",
    "LP112": "Static outputs should be constant",
    "LP113": "nothing to export",
    "LP114": "was not registered as a state tensor",
    "LP115": "has shape",
    "LP116": "source and target do not match",
    "LP117": "only dense tensors can be ports",
    "LP118": "contains '/'",
    "LP119": "is no backend",
    "LP120": "does not accept a bare tensor",
    "LP201": "into True or False",
    "LP202": "into a number",
    "LP203": "draws random numbers inside node",
    "LP204": "drew random numbers that node",
    "LP205": "which is in no node",
    "LP206": "that is none of its outputs",
    "LP207": "in another shape or type",
    "LP208": "that is not among its inputs",
    "LP209": "uses a tensor of shape",
    "LP210": "to keep sizes fixed",
    "LP211": "of a later pass changes nothing",
    "LP212": "what it had traced is dropped",
    "LP213": "passes through as a constant",
    "LP214": "Pickling takes a traced value",
    "LP215": "comes from another thread",
    "LP216": "is read while node 'pi' is open",
    "LP217": "was 0 when node 'pi' was opened",
    "LP218": "the program chooses by it",
    "LP219": "was replaced while node 'pi'",
    "LP220": "no later pass has read yet",
    "LP221": "gave out values",
    "LP301": "what the first pass did is what is exported",
    "LP302": "cannot be exported as state",
    "LP303": "cannot be told after 2 passes",
    "LP304": "that the pass before had not left",
    "LP305": "not always that of the tick before",
    "LP306": "writes, in another shape",
    "LP307": "has let go of since",
    "LP308": "is not like those after it",
    "LP309": "A bundle runs every node once a tick",
    "LP310": "were kept in the first",
    "LP311": "a model of your own cannot be given the state",
    "LP312": "will not repeat what was traced",
    "LP401": "no node was traced",
    "LP402": "but there was no such node",
    "LP403": "has no model",
    "LP406": "tensor(s), but the node declares",
    "LP407": "could not be drawn",
    "LP408": "does not reach any output",
    "LP411": "state of node 'pi'",
    "LP002": "must be a string",
    "LP007": "returned None",
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _said(program: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """What comes of the program: its error's code, the console, the log."""
    source = folder / "program.py"
    source.write_text(PRELUDE + program, encoding="utf-8")
    code = ""
    try:
        runpy.run_path(str(source), run_name="__main__")
    except Exception as error:
        code = f"{error} [{getattr(error, 'code', '')}]"
    finally:
        with contextlib.suppress(Exception):
            leapp.stop()
    console = capfd.readouterr()
    logs = [log.read_text(encoding="utf-8") for log in folder.glob("*/log.txt")]
    return "\n".join([code, console.out, console.err, *logs])


def _names(said: str, code: str) -> bool:
    return f"[{code}]" in said or (code in _WORDS and _WORDS[code] in said)


@pytest.mark.parametrize(("code", "program"), _CAUSES)
def test_the_program_leads_to_its_code(
    code: str, program: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = _said(program, tmp_path, capfd)
    assert _names(said, code), said


@pytest.mark.parametrize(("code", "program"), _CURES)
def test_the_cure_leads_to_no_error_and_not_to_its_code(
    code: str, program: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = _said(program, tmp_path, capfd)
    assert not said.partition("\n")[0], said
    assert not _names(said, code), said


def test_codes_without_a_program_are_those_that_the_page_gives_a_reason_for() -> None:
    reasons = re.findall(r"^- (LP\d{3}): .+$", PAGE.read_text(encoding="utf-8"), re.M)
    assert reasons == [section.code for section in SECTIONS if section.cause is None]
