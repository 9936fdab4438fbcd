"""Check that the codes of diagnostics, their page, the sources and the tests agree.

Every code of include/leapp/code.h must have a section in docs/reference/diagnostics.md
(``## LP201 — ..``), be used in the sources (``Code::kBranch`` in C++, ``LP201`` in Python), and be
named in a test: by its number, by its name, or by the program of its section, which a test runs.
No section, no source and no test may name a code that does not exist.

Run it from anywhere: ``python tools/check_codes.py``. It prints what is wrong and exits with 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = Path("include/leapp/code.h")
PAGE = Path("docs/reference/diagnostics.md")
SOURCES = ("src", "include", "cli", "python")
NOT_SAID_IN = (HEADER, Path("src/core/base/code.cpp"))  # every code is there
ABOUT_LINT = Path("tests/python/test_lint.py")  # has codes that do not exist
# Codes that no test machine can produce, with the reason.
UNTESTED = {
    "LP510": "a file system that refuses to remove files",
    "LP615": "a GPU build of ONNX Runtime on a machine without a GPU",
    "LP622": "a device that fails",
    "LP624": "ONNX Runtime decides when it appears",
}


def read_codes(root: Path) -> dict[str, str]:
    """Return the enum: names ("kBranch") by number ("LP201")."""
    text = (root / HEADER).read_text(encoding="utf-8")
    return {
        f"LP{int(number):03}": name
        for name, number in re.findall(r"^  (k\w+) = (\d+),", text, re.MULTILINE)
    }


def read_sections(root: Path) -> dict[str, bool]:
    """Return which codes have a section, and whether it has a program."""
    text = (root / PAGE).read_text(encoding="utf-8")
    parts = re.split(r"^## (LP\d{3}) — .+$", text, flags=re.MULTILINE)[1:]
    return {code: "```python" in body for code, body in zip(parts[::2], parts[1::2], strict=True)}


def texts_of(root: Path, folders: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """Yield C++ and Python files with their text."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".h", ".c", ".cpp", ".py"}:
                yield path.relative_to(root), path.read_text(encoding="utf-8")


def check(root: Path) -> list[str]:
    """Return one sentence for each code that is missing, unknown, unused or untested."""
    codes, sections = read_codes(root), read_sections(root)
    by_name = {name: code for code, name in codes.items()}
    faults = [f"{PAGE}: {code} ({codes[code]}) has no section" for code in codes.keys() - sections]
    faults += [f"{PAGE}: there is no {code} in {HEADER}" for code in sections.keys() - codes]
    said: set[str] = set()
    tested = {code for code, has_program in sections.items() if has_program} | UNTESTED.keys()
    for path, text in texts_of(root, (*SOURCES, "tests")):
        if path in NOT_SAID_IN or path == ABOUT_LINT:
            continue
        numbers = set(re.findall(r"\bLP\d{3}\b", text))
        faults += [f"{path}: there is no {code} in {HEADER}" for code in numbers - codes.keys()]
        names = {by_name[name] for name in re.findall(r"\bCode::(k\w+)\b", text) if name in by_name}
        if path.parts[0] == "tests":
            tested |= numbers | names
        else:
            said |= numbers if path.suffix == ".py" else names
    faults += [f"{HEADER}: {code} ({codes[code]}) is not used" for code in codes.keys() - said]
    faults += [f"{HEADER}: {code} ({codes[code]}) is in no test" for code in codes.keys() - tested]
    return sorted(faults)


def main() -> int:
    """Print all faults; return the exit status."""
    faults = check(ROOT)
    print("\n".join(faults) or "the codes, their page, the sources and the tests agree")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
