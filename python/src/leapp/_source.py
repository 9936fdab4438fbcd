"""Names of returned variables, and values that are only printed, from the program's source."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from . import _trace

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


def carries(owner: Any, name: Any) -> bool:
    """Return whether code of the class keeps a value in that attribute between calls."""
    return isinstance(owner, type) and name in _carried_by(owner)


@functools.cache
def _carried_by(owner: type) -> frozenset[str]:
    """Return the attributes that a method of the class both reads and assigns to."""
    names = {kind.__name__ for kind in owner.__mro__}
    items = (item for kind in owner.__mro__ for item in vars(kind).values())
    codes = {item.__code__ for item in items if isinstance(item, FunctionType)}
    files = {code.co_filename for code in codes if _trace.is_user_code(code)}
    around = (part for file in files for part in _parents_in(file))
    classes = [part for part in around if isinstance(part, ast.ClassDef) and part.name in names]
    methods = [
        each
        for part in classes
        for each in ast.walk(part)
        if isinstance(each, ast.FunctionDef) and each.name != "__init__"
    ]
    return frozenset(name for each in methods for name in _carried_in(each))


def _carried_in(method: ast.FunctionDef) -> set[str]:
    stored: set[str] = set()
    loaded: set[str] = set()
    for part in ast.walk(method):
        match part:
            case ast.Attribute(_, name, ast.Store()):
                stored.add(name)
            case ast.Attribute(_, name, ast.Load()) | ast.AugAssign(ast.Attribute(_, name)):
                loaded.add(name)
    return stored & loaded


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
