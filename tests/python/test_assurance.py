"""Every claim of docs/explanation/assurance.md names tests, and each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "assurance.md"


def _claims() -> dict[str, str]:
    claims = PAGE.read_text(encoding="utf-8").split("## Claims")[1].split("## What it does not")[0]
    parts = re.split(r"^- \*\*(C\d+) ", claims, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _cpp_tests() -> set[str]:
    pattern = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
    return {
        f"{suite}.{name}"
        for path in (ROOT / "tests").rglob("*_test.cpp")
        for suite, name in pattern.findall(path.read_text(encoding="utf-8"))
    }


def _python_tests() -> set[str]:
    return {
        f"{path.name}::{name}"
        for path in (ROOT / "tests" / "python").glob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
    }


def test_claims_are_numbered_without_gaps() -> None:
    assert list(_claims()) == [f"C{i}" for i in range(1, len(_claims()) + 1)]
    assert len(_claims()) >= 17


def test_every_claim_names_a_test_and_every_test_exists() -> None:
    known = _cpp_tests() | _python_tests()
    for claim, text in _claims().items():
        assert "Evidence:" in text, f"{claim} has no evidence"
        named = re.findall(r"`(\w+\.(?:py::)?\w+)`", text.split("Evidence:")[1])
        assert named, f"the evidence of {claim} names no test"
        missing = [test for test in named if test not in known]
        assert not missing, f"{claim} names tests that do not exist: {missing}"
