"""What the program's source says: one reader of its syntax trees, for all who ask.

The detectors see values; whether a value matters depends on what the code does with it. Source goes
in as functions, classes and modules, and sets of names come out. What has no source says nothing.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from . import _trace

_ASKING_METHODS = ("get", "pop", "setdefault")
_ASKING_FUNCTIONS = ("getattr", "hasattr")
_ADDING_METHODS = ("add", "append", "appendleft", "clear", "extend", "insert", "update")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

#: Stands for every name, where code reads attributes by names that it computes.
ANY = "*"


class Reading(NamedTuple):
    """The names of variables, attributes and keys that code uses."""

    read: frozenset[str]
    chosen: frozenset[str]  # those that it chooses by

    def reads(self, names: Iterable[str]) -> bool:
        """Whether the code reads one of these."""
        return ANY in self.read or not self.read.isdisjoint(names)

    def chooses_by(self, names: Iterable[str]) -> bool:
        """Whether the code chooses by one of these."""
        return not self.chosen.isdisjoint(names)


@functools.cache
def tree_of(owner: Any) -> ast.AST:
    """Return the syntax tree of a module, class, function or code object."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(owner)))
    except (OSError, TypeError, SyntaxError):
        if not isinstance(owner, type):
            return ast.Module([], [])  # no source, or a lambda in the middle of a line
        # A class of a module that is not registered is found by its functions.
        functions = [item for item in vars(owner).values() if isinstance(item, FunctionType)]
        return ast.Module([tree_of(function) for function in functions], [])  # type: ignore[misc]


@functools.cache
def tree_of_file(file: str) -> ast.AST:
    """Return the syntax tree of a file, or of a cell of a notebook."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])


def files_of(owner: Any) -> set[str]:
    """Return the files of the program that the code of a class, function or module is in."""
    if isinstance(owner, ModuleType):
        return {owner.__file__} if owner.__file__ else set()
    kinds = owner.__mro__ if isinstance(owner, type) else ()
    functions = [owner, *(item for kind in kinds for item in vars(kind).values())]
    code = {item.__code__ for item in functions if isinstance(item, FunctionType)}
    return {each.co_filename for each in code if _trace.is_user_code(each)}


@functools.cache
def rebound_variables(module: ModuleType) -> frozenset[str]:
    """Return the variables of a module that its functions assign to."""
    declared = (part for part in ast.walk(tree_of(module)) if isinstance(part, ast.Global))
    return frozenset(name for part in declared for name in part.names)


def carries(owner: Any, name: Any) -> bool:
    """Whether code of the class carries a value in that attribute from one call to the next."""
    return isinstance(owner, type) and any(name in _carried_by(part) for part in owner.__mro__)


@functools.cache
def _carried_by(owner: type) -> frozenset[str]:
    """Return the attributes that a method of the class both reads and assigns to."""
    found: set[str] = set()
    if owner.__module__ == "builtins":
        return frozenset()
    for part in ast.walk(tree_of(owner)):
        if isinstance(part, ast.FunctionDef) and part.name != "__init__":
            used = [item for item in ast.walk(part) if isinstance(item, ast.Attribute)]
            stored = {item.attr for item in used if isinstance(item.ctx, ast.Store)}
            loaded = {item.attr for item in used if isinstance(item.ctx, ast.Load)}
            found |= (stored & loaded) | _updated_in(part)
    return frozenset(found)


def _updated_in(tree: ast.AST) -> set[str]:
    updates = (part.target for part in ast.walk(tree) if isinstance(part, ast.AugAssign))
    return {target.attr for target in updates if isinstance(target, ast.Attribute)}


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
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.In, ast.NotIn)):
            found.append((part.left, part.comparators[0]))
        if not isinstance(part, ast.Call):
            continue
        asks, given = part.func, part.args
        if isinstance(asks, ast.Attribute) and asks.attr in _ASKING_METHODS:
            found.append((given[0] if given else None, asks.value))
        if isinstance(asks, ast.Name) and asks.id in _ASKING_FUNCTIONS and len(given) > 1:
            found.append((given[1], given[0]))
    keys = frozenset(key.value for key, _ in found if isinstance(key, ast.Constant))
    return keys, frozenset(name for _, of in found for name in [_last_name(of)] if name)


def _last_name(part: ast.AST) -> str:
    return getattr(part, "attr", "") or getattr(part, "id", "")


def reading_in(functions: Sequence[CodeType], trees: Iterable[ast.AST]) -> Reading:
    """Return what functions use, with all that they call by name in these trees."""
    found = [_tree_of_code(function) for function in functions]
    todo = [tree for tree in found if tree is not None]
    ran = {function.co_name for function in functions}  # others of these names did not
    known = [_functions_in(tree) for tree in trees]
    read = {ANY} if None in found else set[str]()
    chosen: set[str] = set()
    while todo:
        reading = _reading_of(todo.pop())
        for name in reading.read - read - ran:
            todo += [function for table in known for function in table.get(name, ())]
        read |= reading.read
        chosen |= reading.chosen
    return Reading(frozenset(read), frozenset(chosen))


@functools.cache
def _tree_of_code(code: CodeType) -> ast.AST | None:
    """Return the definition that code was compiled from; None where the source does not show it."""
    tree: Any = tree_of_file(code.co_filename)
    if not tree.body or code.co_name == "<module>":
        return tree if tree.body else None
    line = code.co_firstlineno
    around = [part for each in _functions_in(tree).values() for part in each if _holds(part, line)]
    found: Any = max(around, key=lambda part: part.lineno, default=tree)
    # A lambda or a comprehension is part of the function around it. The file may have changed.
    named = not code.co_name.startswith("<")
    return None if named and getattr(found, "name", "") != code.co_name else found


def _holds(part: Any, line: int) -> bool:
    first = min(each.lineno for each in (part, *part.decorator_list))
    return bool(first <= line <= part.end_lineno)


@functools.cache
def _functions_in(tree: ast.AST) -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for part in ast.walk(tree):
        if isinstance(part, ast.FunctionDef):
            found.setdefault(part.name, []).append(part)
    return found


@functools.cache
def _reading_of(tree: ast.AST) -> Reading:
    parts = list(ast.walk(tree))
    written = [part for part in parts if _is_only_written(part)]
    updated = {id(named) for part in written for named in _receivers_of(part)}
    read = _names_in(part for part in parts if id(part) not in updated)
    if any(_is_computed_access(part) for part in parts):
        read.add(ANY)
    chosen = _names_in(part for choice in _choices_in(parts) for part in ast.walk(choice))
    return Reading(frozenset(read), frozenset(chosen))


def _is_only_written(part: ast.AST) -> bool:
    """Whether a statement changes a value without using it: ``n += 1``, ``a.append(x)``."""
    if isinstance(part, ast.AugAssign):
        return True
    if not isinstance(part, ast.Expr) or not isinstance(part.value, ast.Call):
        return False
    return getattr(part.value.func, "attr", "") in _ADDING_METHODS


def _receivers_of(part: Any) -> Iterator[ast.AST]:
    """Yield the parts that name what such a statement changes: ``counts`` and ``'n'``."""
    receiver = part.target if isinstance(part, ast.AugAssign) else part.value.func.value
    while isinstance(receiver, ast.Subscript):
        if isinstance(receiver.slice, ast.Constant):
            yield receiver.slice
        receiver = receiver.value
    yield receiver


def _is_computed_access(part: ast.AST) -> bool:
    if isinstance(part, ast.Attribute) and part.attr == "__dict__":
        return True
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name):
        return False
    if part.func.id == "vars":
        return True
    return part.func.id == "getattr" and not isinstance(part.args[1], ast.Constant)


def _names_in(parts: Iterable[ast.AST]) -> set[str]:
    found: set[str] = set()
    for part in parts:
        if isinstance(part, (ast.Attribute, ast.Name)):
            if not isinstance(part.ctx, ast.Store):
                found.add(_last_name(part))
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
    return found


def _choices_in(parts: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in parts:
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield node.test
        elif isinstance(node, ast.Match):
            yield node.subject
        elif isinstance(node, ast.Compare) or (
            isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.FloorDiv))
        ):
            yield node
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            yield node.slice
        elif isinstance(node, ast.Return) and isinstance(node.value, (ast.Attribute, ast.Name)):
            yield node.value


def shown_returns(function: Callable[..., Any]) -> list[str | list[str | None] | None]:
    """Return the variables each ``return`` of the function names, as far as its source shows them.

    One entry per statement: a list for ``return a, b``, a name for ``return a``, None where an
    expression has no name.
    """
    tree = tree_of(function)
    definitions = [part for part in getattr(tree, "body", ()) if isinstance(part, ast.FunctionDef)]
    result: list[str | list[str | None] | None] = []
    for statement in _returns_of(definitions[0]) if definitions else ():
        value = statement.value
        if isinstance(value, ast.Tuple):
            if not any(isinstance(item, ast.Starred) for item in value.elts):
                result.append([_variable(item) for item in value.elts])
        elif value is not None:
            result.append(_variable(value))
    return result


def _returns_of(node: ast.AST) -> Iterator[ast.Return]:
    """Yield the return statements of a function in order, those of functions inside it left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, _DEFINITIONS):
            yield from _returns_of(child)


def _variable(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None
