"""Names of returned variables, and values that are only printed, from the program's source."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

#: Functions that only print values.
_SHOWING = ("print", "debug", "info", "warning", "error", "add_scalar", "add_scalars")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def only_shown(code: CodeType, offset: int) -> bool:
    """Return whether the result of an instruction is printed, logged or asserted on its line."""
    if offset < 0 or not hasattr(code, "co_positions"):  # before Python 3.11
        return False
    place = next(itertools.islice(code.co_positions(), offset // 2, None), None)
    parents = _parents_in(code.co_filename)
    found = [part for part in parents if _place_of(part) == place]
    return bool(found) and all(_is_only_shown(part, parents) for part in found)


def _place_of(part: Any) -> tuple[int | None, ...]:
    names = ("lineno", "end_lineno", "col_offset", "end_col_offset")
    return tuple(getattr(part, name, None) for name in names)


@functools.lru_cache(maxsize=64)
def _parents_in(file: str) -> dict[ast.AST, ast.AST]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return {}
    return {child: part for part in ast.walk(tree) for child in ast.iter_child_nodes(part)}


def _is_only_shown(part: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    while not isinstance(part, ast.stmt):
        inside, part = part, parents[part]
        if isinstance(part, ast.Call) and _last_name(part.func) in _SHOWING:
            return inside is not part.func
    return _only_shows(part)


def _only_shows(part: ast.stmt) -> bool:
    """Return whether a statement only affects output, or passes."""
    match part:
        case ast.Assert() | ast.Raise() | ast.Pass():
            return True
        case ast.Expr(ast.Call(function)):
            return _last_name(function) in _SHOWING
        case ast.If(_, [ast.Expr(ast.Call(ast.Attribute(_, "abandon"))), *_], []):
            return True  # a pass statement does not count
        case ast.If(_, body, other):
            return all(map(_only_shows, (*body, *other)))
    return False


def _last_name(part: ast.AST) -> str:
    return getattr(part, "attr", "") or getattr(part, "id", "")


def shown_returns(function: Callable[..., Any]) -> dict[int | None, list[str | None]]:
    """Return the names of the variables that a function returns, if its source shows them.

    They come from the last return statement, by the number of values in ``return a, b``, or None
    for a single value. An expression without a name is None.
    """
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, SyntaxError):
        return {}  # no source, or a lambda in the middle of a line
    definitions = [part for part in body if isinstance(part, ast.FunctionDef)]
    result: dict[int | None, list[str | None]] = {}
    for value in _returned_by(definitions[0]) if definitions else ():
        if not isinstance(value, ast.Tuple):
            result[None] = [getattr(value, "id", None)]
        elif not any(isinstance(item, ast.Starred) for item in value.elts):
            result[len(value.elts)] = [getattr(item, "id", None) for item in value.elts]
    return result


def _returned_by(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the returned expressions of a function, in order, without those of inner functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return) and child.value is not None:
            yield child.value
        elif not isinstance(child, _DEFINITIONS):
            yield from _returned_by(child)
