"""The lint for plain English finds phrases and first words, but only in text for readers."""

from __future__ import annotations

import sys

import pytest
from test_readme import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import check_words


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.h", "// A value that is no tensor.\n"),
        ("a.cpp", 'throw Error("the value is no "\n  "tensor");\n'),
        ("a.h", "/// Whether it fits.\nbool fits();\n"),
        ("a.h", "/// The sum of both.\nint sum(int a, int b);\n"),
        ("a.h", "int size;  ///< How many there are.\n"),
        ("a.py", "# nobody reads this\n"),
        ("a.py", 'raise ValueError("take it apart and put out a number")\n'),
        ("a.py", 'def f():\n    """What it does."""\n'),
        ("include/a.h", "int a;\n/* How many there are. */\nint count(void);\n"),
        (
            "tests/a.py",
            "# nobody reads this, but a test may have the text 'nobody'\nx = 'nobody'\n",
        ),
        (
            "a.md",
            "A paragraph that is spread\nover lines, is no\nlonger than two, and is no\npoem.\n",
        ),
    ],
)
def test_phrases_and_first_words_are_found(path: str, text: str) -> None:
    assert len(list(check_words.check_text(path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.h", "/// Returns the sum.\nint sum(int a, int b);\n"),
        ("a.h", "/// The sum so far.\nint sum = 0;\n"),
        ("a.h", "/// The state of a node.\nstruct State {};\n"),
        ("a.cpp", "bool is_no_number(double x);  // There is no number that is no longer valid.\n"),
        ("a.py", "is_no_tensor = nobody(beside)\n"),
        ("a.md", "```\nnobody\n```\nThe word `nobody` is code.\n"),
        ("tests/a.cpp", 'f("nobody");\n'),
    ],
)
def test_plain_english_and_code_are_not_findings(path: str, text: str) -> None:
    assert list(check_words.check_text(path, text)) == []


def test_a_finding_has_the_line_of_its_passage() -> None:
    text = "int a;\n/* one\n * two */\n\n// good\n// truth value\n"
    assert list(check_words.check_text("a.h", text)) == [(5, "'truth value': write 'bool'")]


def test_scanned_and_exempt_paths_exist() -> None:
    for path in (*check_words.EXEMPT, *check_words.SCANNED):
        assert (ROOT / path).exists(), f"tools/check_words.py names {path}, which does not exist"
