"""What the program's source says: one reader of its syntax trees, for all who ask.

The detectors see values; whether a value matters depends on what the code does with it. Source goes
in as functions, classes and modules, and sets of names come out. What has no source says nothing.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import re
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from . import _trace

_ASKING_METHODS = ("get", "pop", "setdefault")
_ASKING_FUNCTIONS = ("getattr", "hasattr")
#: Functions that show values, to which nothing else comes of it.
SHOWING = ("print", "debug", "info", "warning", "error", "add_scalar", "add_scalars")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@functools.cache
def tree_of_file(file: str) -> ast.AST:
    """Return the syntax tree of a file, or of a cell of a notebook."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])


def files_of(owner: Any) -> set[str]:
    """Return the files that the code of a class or function is in, a module's, or a file itself."""
    owner = getattr(owner, "__file__", None) if isinstance(owner, ModuleType) else owner
    if isinstance(owner, str):
        return {owner}
    kinds = owner.__mro__ if isinstance(owner, type) else ()
    items = [owner, *(item for kind in kinds for item in vars(kind).values())]
    functions = [inspect.unwrap(item) for item in items if isinstance(item, FunctionType)]
    code = {each.__code__ for each in functions if isinstance(each, FunctionType)}
    return {each.co_filename for each in code if _trace.is_user_code(each)}


def may_be_rebound(owner: Any, name: Any) -> bool:
    """Whether functions assign to a variable, if it is one of a module: not a loop's, say."""
    return not isinstance(owner, str) or name in _rebound_variables(owner)


@functools.cache
def _rebound_variables(file: str) -> frozenset[str]:
    # Not from the tree: files of libraries are long, and many are asked for nothing else.
    declared = re.findall(r"^\s*global\s+(.*)", "".join(linecache.getlines(file)), re.MULTILINE)
    return frozenset(re.findall(r"\w+", " ".join(declared)))


def carries(owner: Any, name: Any) -> bool:
    """Whether code of the class carries a value in that attribute from one call to the next."""
    return isinstance(owner, type) and name in _carried_by(owner)


@functools.cache
def _carried_by(owner: type) -> frozenset[str]:
    """Return the attributes that a method of the class both reads and assigns to."""
    names = {kind.__name__ for kind in owner.__mro__}
    around = (part for file in files_of(owner) for part in ast.walk(tree_of_file(file)))
    classes = [part for part in around if isinstance(part, ast.ClassDef) and part.name in names]
    methods = [each for part in classes for each in _functions_in(part) if each.name != "__init__"]
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


def asks_for(tree: ast.AST, container: str, key: Any) -> bool:
    """Whether code asks for a key or an attribute before it uses it, of that container or any.

    What comes up in the first pass of a node can be state only if the code did without it then: it
    must have asked whether it was there.
    """
    keys, containers = _questions(tree)
    return (bool(container) and container in containers) or (isinstance(key, str) and key in keys)


@functools.cache
def _questions(tree: ast.AST) -> tuple[frozenset[Any], frozenset[str]]:
    """Return the keys that are asked for, and the names of what is asked."""
    found: list[tuple[ast.AST | None, ast.AST]] = []
    for part in ast.walk(tree):
        match part:
            case ast.Compare(key, [ast.In() | ast.NotIn(), *_], [of, *_]):
                found.append((key, of))
            case ast.Call(ast.Attribute(of, asks), given) if asks in _ASKING_METHODS:
                found.append((given[0] if given else None, of))
            case ast.Call(ast.Name(asks), [of, key, *_]) if asks in _ASKING_FUNCTIONS:
                found.append((key, of))
    keys = frozenset(key.value for key, _ in found if isinstance(key, ast.Constant))
    return keys, frozenset(name for _, of in found for name in [last_name(of)] if name)


def last_name(part: ast.AST) -> str:
    return getattr(part, "attr", "") or getattr(part, "id", "")


def span_in(code: CodeType, offset: int) -> tuple[int, int, int, int] | None:
    """Return where the text of an instruction begins and ends: lines, then columns."""
    if offset < 0 or not hasattr(code, "co_positions"):  # before Python 3.11
        return None
    span: Any = next(itertools.islice(code.co_positions(), offset // 2, None), None)
    return None if span is None or None in span else span


@functools.cache
def tree_of_code(code: CodeType) -> ast.AST | None:
    """Return the definition that code was compiled from; None where the source does not show it."""
    tree: Any = tree_of_file(code.co_filename)
    if not tree.body or code.co_name == "<module>":
        return tree if tree.body else None
    line = code.co_firstlineno
    around = [part for part in _functions_in(tree) if _holds(part, line)]
    found: Any = max(around, key=lambda part: part.lineno, default=tree)
    # A lambda or a comprehension is part of the function around it. The file may have changed.
    named = not code.co_name.startswith("<")
    return None if named and getattr(found, "name", "") != code.co_name else found


def _holds(part: Any, line: int) -> bool:
    first = min(each.lineno for each in (part, *part.decorator_list))
    return bool(first <= line <= part.end_lineno)


@functools.cache
def _functions_in(tree: ast.AST) -> list[ast.FunctionDef]:
    return [part for part in ast.walk(tree) if isinstance(part, ast.FunctionDef)]


def only_shows(part: ast.stmt) -> bool:
    """Whether a statement changes nothing but what the program shows, or that it goes on."""
    match part:
        case ast.Assert() | ast.Raise() | ast.Pass():
            return True
        case ast.Expr(ast.Call(function)):
            return last_name(function) in SHOWING
        case ast.If(_, [ast.Expr(ast.Call(ast.Attribute(_, "abandon"))), *_], []):
            return True  # the pass does not count
        case ast.If(_, body, other):
            return all(map(only_shows, (*body, *other)))
    return False


def only_shown(code: CodeType, offset: int) -> bool:
    """Whether what an instruction computes is printed, logged or asserted, and nothing else."""
    tree = tree_of_file(code.co_filename)
    span = span_in(code, offset)
    if span is None:
        return False
    parents = _parents_in(tree)
    found = [part for part in parents if span_of(part) == span]
    return bool(found) and all(_is_only_shown(part, parents) for part in found)


def span_of(part: Any) -> tuple[Any, ...]:
    names = ("lineno", "end_lineno", "col_offset", "end_col_offset")
    return tuple(getattr(part, name, None) for name in names)


@functools.cache
def _parents_in(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: part for part in ast.walk(tree) for child in ast.iter_child_nodes(part)}


def _is_only_shown(
    part: ast.AST, parents: dict[ast.AST, ast.AST], asked: frozenset[str] = frozenset()
) -> bool:
    """Whether nothing depends on an expression but what the program shows, or that it goes on.

    `asked` has the variables that this is being found out of.
    """
    while not isinstance(part, ast.stmt):
        inside, part = part, parents[part]
        if isinstance(part, ast.Call) and last_name(part.func) in SHOWING:
            return inside is not part.func
    match part:
        case ast.Assert() | ast.If():  # if not torch.isfinite(x).all(): raise ..
            return only_shows(part)
        case ast.Assign([ast.Name(name)]):
            if name in asked:
                return True
        case _:
            return False
    around: ast.AST = part
    while around in parents and not isinstance(around, ast.FunctionDef):
        around = parents[around]
    uses = [use for use in ast.walk(around) if getattr(use, "id", "") == name]
    read = [use for use in uses if isinstance(getattr(use, "ctx", None), ast.Load)]
    asked |= {name}
    return bool(read) and all(_is_only_shown(use, parents, asked) for use in read)


def shown_returns(function: Callable[..., Any]) -> dict[int | None, list[str | None]]:
    """Return the variables that a function returns, as far as its source shows them.

    They are those of the last such statement, by how many there are in ``return a, b``, and by None
    where one is returned as it is; None stands for an expression without a name.
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
    """Yield what a function returns, in order, functions inside it left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return) and child.value is not None:
            yield child.value
        elif not isinstance(child, _DEFINITIONS):
            yield from _returned_by(child)
