"""Check that the rules of the bundle format, its code and its tests agree on their labels.

Every rule of docs/reference/bundle.md (``**B7**``) must be cited in the sources (``B7``) and by the
name of a test (``b7_...``), and be part of an error message that a test expects (``[B7]``), except
for rules under "Writing" and after it, which no YAML file can break. No source and no test may cite
a rule that the page does not have.

Run it from anywhere: ``python tools/check_rules.py``. It prints what is wrong and exits with 1.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path("docs/reference/bundle.md")
FOLDERS = ("core/bundle", "torch_engine")  # of src and tests


def find_labels(pattern: str, top: str, root: Path) -> dict[int, str]:
    """Return the rule numbers that ``pattern`` finds in C++ files, each with one file citing it."""
    labels: dict[int, str] = {}
    folders = [root / top / folder for folder in FOLDERS]
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.suffix in {".h", ".cpp"}:
            for match in re.finditer(pattern, path.read_text(encoding="utf-8")):
                labels.setdefault(int(match.group(1)), str(path.relative_to(root)))
    return labels


def check(root: Path) -> list[str]:
    """Return one sentence for each label that is missing, repeated or unknown."""
    page = (root / PAGE).read_text(encoding="utf-8")
    stated = [int(number) for number in re.findall(r"^- \*\*B(\d+)\*\*", page, re.MULTILINE)]
    faults = [f"{PAGE}: B{rule} is stated twice" for rule in set(stated) if stated.count(rule) > 1]
    promises = {
        int(number) for number in re.findall(r"\*\*B(\d+)\*\*", page.split("### Writing")[1])
    }
    cited = [
        ("is cited by no source", r"\bB(\d+)\b", "src", set(stated)),
        ("has no test", r"\bb(\d+)_\w", "tests", set(stated)),
        ("is in no tested message", r"\[B(\d+)\]", "tests", set(stated) - promises),
    ]
    for complaint, pattern, top, expected in cited:
        labels = find_labels(pattern, top, root)
        faults += [f"{PAGE}: B{rule} {complaint}" for rule in sorted(expected - labels.keys())]
        faults += [
            f"{labels[rule]}: there is no rule B{rule} in {PAGE}"
            for rule in sorted(labels.keys() - set(stated))
        ]
    return faults


def main() -> int:
    """Print all faults; return the exit status."""
    faults = check(ROOT)
    print("\n".join(faults) or "the rules, their code and their tests agree")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
