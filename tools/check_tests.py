"""Check that each Python module has a test of its name, and that every test can fail.

Part of `make lint`, see lint.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

#: A module has logic if a function of it contains one of these.
BRANCHES = (
    ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.Match, ast.comprehension, ast.BoolOp,
)  # fmt: skip
#: Minimum number of letters and digits of a text that a test searches for; shorter ones occur in
#: any log.
LEAST = 4
#: Names of variables that contain a log or the output of a program.
TEXTS = ("log", "logs", "err", "error", "out", "output", "message", "text")


def modules_without_test(root: Path) -> Iterator[Path]:
    """Yield the modules of the package that have logic and no test of their name."""
    tests = [path.stem for path in (root / "tests" / "python").glob("test_*.py")]
    for module in sorted((root / "python" / "src" / "leapp").glob("*.py")):
        if module.stem == "__init__":
            continue
        name = module.stem.strip("_")
        fits = re.compile(rf"test_(api_|spec_)?{name}(_\w+)?")
        if has_logic(module.read_text()) and not any(map(fits.fullmatch, tests)):
            yield module.relative_to(root)


def has_logic(source: str) -> bool:
    """Return whether a function of the source has a branch or a loop."""
    functions = [
        node for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]  # fmt: skip
    return any(isinstance(part, BRANCHES) for each in functions for part in ast.walk(each))


def weak_checks(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and reason of each check that almost any wrong program passes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Assert(ast.Compare(ast.Constant(str() as text), [ast.In()], [where])):
                if _is_short(text) and _is_long_text(where):
                    yield node.lineno, f"{text!r} is in almost any text; compare codes or values"
            case ast.Call(ast.Attribute(_, "raises"), [ast.Name(name), *_], keywords):
                if name not in ("Exception", "BaseException", "LeappError"):
                    continue
                for keyword in keywords:
                    match = getattr(keyword.value, "value", None)
                    if keyword.arg == "match" and isinstance(match, str) and _is_short(match):
                        reason = f"match={match!r} fits almost any error; compare its code"
                        yield node.lineno, reason


def _is_short(text: str) -> bool:
    return len(re.findall(r"[A-Za-z0-9]", text)) < LEAST


def _is_long_text(part: ast.expr) -> bool:
    match part:
        case ast.Name(name):
            return name in TEXTS
        case ast.Attribute(_, name):
            return name in ("err", "stderr", "stdout")
        case ast.Call(ast.Name("str")) | ast.Call(ast.Attribute(_, "log")):
            return True
    return False
