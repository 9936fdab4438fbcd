"""What code of the program reads inside a node, by the names of variables, attributes and keys."""

from __future__ import annotations

import ast
import builtins
import functools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from . import _trace
from ._source import SHOWING, last_name, only_shows, span_in, span_of, tree_of_code

_ADDING_METHODS = ("add", "append", "appendleft", "clear", "extend", "insert", "update")
#: Methods that do not take part in computing: they make objects, show them, or stand around code.
_MANAGING = frozenset(
    "__init__ __new__ __post_init__ __init_subclass__ __del__ __enter__ __exit__ __repr__ __str__ "
    "__format__ __eq__ __ne__ __hash__ __setattr__ __getstate__ __setstate__ __reduce__".split()
)

_STOCK_MODULES = ("math", "np", "numpy", "random", "time", "torch")

#: What assigns to variables of its own, or perhaps not at all.
_UNCERTAIN = (
    ast.For, ast.Try, ast.Match, ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp,
    ast.GeneratorExp, ast.DictComp,
)  # fmt: skip

#: A function that ran in a node, and the instructions that opened and closed it, if it did that.
CodeIn = tuple[CodeType, tuple[int, int] | None]

#: Stands for every name, where code reads attributes by names that it computes.
ANY = "*"


def words(label: str) -> set[str]:
    """Return the last name in a label like ``agent.counts['n']``, and its keys."""
    return {*re.findall(r"[A-Za-z_]\w*", label.rpartition(".")[2])}


class Reading(NamedTuple):
    """The variables, attributes and keys that code reads.

    Among them is ANY where it reads attributes by names that it computes.
    """

    read: frozenset[str] = frozenset()
    chosen: frozenset[str] = frozenset()  # those that it chooses by
    measured: frozenset[str] = frozenset()  # those whose length it asks for
    given: frozenset[str] = frozenset()  # those that it has not assigned to before

    def joined(self, other: Reading) -> Reading:
        """Return what either reads."""
        return Reading(*map(frozenset.union, self, other))

    def within(self, names: Iterable[str]) -> Reading:
        """Return what it reads of these names."""
        return Reading(*(part.intersection(names) for part in self))


def reading_in(functions: Sequence[CodeIn], trees: Iterable[ast.AST]) -> Reading:
    """Return what functions read inside a node, with all that they call by name in these trees."""
    found = [_tree_in(*function) for function in functions]
    todo = [tree for tree in found if tree is not None]
    ran = {code.co_name for code, _ in functions}  # others of these names did not
    known = [_named_functions_in(tree) for tree in trees]
    unknown = frozenset({ANY} if None in found else ())
    result = Reading(unknown, given=unknown)
    while todo:
        reading = _reading_of(todo.pop())
        for name in reading.read - result.read - ran:
            todo += [function for table in known for function in table.get(name, ())]
        result = result.joined(reading)
    return result


def variables_in(functions: Sequence[CodeIn], of: CodeType | str) -> Reading:
    """Return the variables of a function, or of a module by its file, that a node reads.

    Those of a function around the node are read as what they are given to has the same name.
    """
    result = Reading()
    for code, between in functions:
        tree = _tree_in(code, between)
        if tree is None:
            continue
        given = _given_to(tree)
        if isinstance(of, str):
            is_there = of in ("", code.co_filename)
            given = given & {*code.co_names} if is_there else _variables_of(of, tree)
        elif code is not of:
            parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = given & _handed_on_by(of) & {*parameters}
        result = result.joined(_reading_of(tree).within(given))
    return result


@functools.cache
def _handed_on_by(code: CodeType) -> frozenset[str]:
    """Return the variables that a function gives to other functions of the program's."""
    tree = tree_of_code(code)
    if tree is None:
        return frozenset(code.co_varnames)
    calls = [part for part in ast.walk(tree) if isinstance(part, ast.Call) and not _is_stock(part)]
    given = (each for part in calls for each in (*part.args, *part.keywords))
    return frozenset(name for each in given for name in _names_outside_calls(each))


def _is_stock(call: ast.Call) -> bool:
    """Whether a call is of Python, PyTorch or NumPy, which compute with what they are given."""
    root: Any = call.func
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    name = getattr(root, "id", "")
    return name in _STOCK_MODULES or hasattr(builtins, name) or last_name(call.func) in SHOWING


def _names_outside_calls(part: ast.AST) -> Iterator[str]:
    if isinstance(part, ast.Name):
        yield part.id
    if not isinstance(part, ast.Call):
        for child in ast.iter_child_nodes(part):
            yield from _names_outside_calls(child)


def _variables_of(file: str, tree: ast.AST) -> frozenset[str]:
    """Return what code reads of an imported module, as ``module.variable``."""
    parts = (part for part in ast.walk(tree) if isinstance(part, ast.Attribute))
    name = os.path.basename(file)
    return frozenset(part.attr for part in parts if getattr(part.value, "id", "") + ".py" == name)


def unnamed_in(owner: type) -> list[CodeIn]:
    """Return the methods of a class that code calls without naming them: ``forward``, operators."""
    return [
        (item.__code__, None)
        for kind in owner.__mro__
        for name, item in vars(kind).items()
        if (name.startswith("__") and name not in _MANAGING) or name == "forward"
        if isinstance(item, FunctionType) and kind.__module__ not in ("builtins", "typing")
        if _trace.is_user_code(item.__code__) or name in ("__lt__", "__gt__")  # of dataclasses
    ]


@functools.cache
def _tree_in(code: CodeType, between: tuple[int, int] | None) -> ast.AST | None:
    """Return what code does inside a node: all of it, or what stands between two instructions.

    That is what follows the statement that opens the node, up to the one that closes it.
    """
    tree = tree_of_code(code)
    opened, closed = (span_in(code, offset) for offset in between or (-1, -1))
    if tree is None or opened is None or closed is None or opened >= closed:
        return tree
    statements = (part for part in ast.walk(tree) if isinstance(part, ast.stmt))
    inside = [part for part in statements if opened[::2] < span_of(part)[::2] <= closed[::2]]
    nested = {id(part) for each in inside for part in ast.walk(each) if part is not each}
    parts: list[Any] = [part for part in inside if id(part) not in nested]
    if parts and isinstance(parts[-1], ast.Assign):  # which goes to its target after that
        parts[-1] = parts[-1].value
    return ast.Module(parts, [])


@functools.cache
def _named_functions_in(tree: ast.AST) -> dict[str, list[ast.AST]]:
    """Return the functions in a tree by their names, with lambdas that are assigned to one."""
    found: dict[str, list[ast.AST]] = {}
    for part in ast.walk(tree):
        match part:
            case ast.FunctionDef(name):
                found.setdefault(name, []).append(part)
            case ast.Assign(targets, ast.Lambda() as function):
                for target in targets:
                    found.setdefault(last_name(target), []).append(function)
    return found


@functools.cache
def _given_to(tree: ast.AST) -> frozenset[str]:
    """Return the variables that code reads and that had a value before it ran.

    So are attributes, by all of their names: ``self.h``.
    """
    found: set[str] = set()
    _look_for_given(tree, set(), found)
    return frozenset(found)


def _look_for_given(part: ast.AST, own: set[str], found: set[str]) -> None:
    """Go through code in the order in which it runs; `own` has what it certainly assigned to."""
    if isinstance(part, (ast.Attribute, ast.Name)):
        name = _dotted(part)
        if isinstance(part.ctx, ast.Store):
            own.add(name)
        elif name not in own:
            found.add(name)
    own = {*own} if isinstance(part, _UNCERTAIN) else own
    children = list(ast.iter_child_nodes(part))
    match part:
        case ast.AugAssign():  # n += 1 leaves it what it was before, and more
            children = [part.value]
        case ast.Assign():
            children = [part.value, *part.targets]
        case ast.AnnAssign():
            children = [part.value or part.annotation, part.target]
        case ast.For():
            children = [part.iter, part.target, *part.body, *part.orelse]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            children.sort(key=lambda child: not isinstance(child, ast.comprehension))
        case ast.If(test, body, other) | ast.While(test, body, other):
            _look_for_given(test, own, found)
            ways = {*own}, {*own}
            for way, parts in zip(ways, (body, other), strict=True):
                _look_for_given(ast.Module(parts, []), way, found)
            own |= ways[0] & ways[1]
            return
    for child in children:
        _look_for_given(child, own, found)


def _dotted(part: ast.AST) -> str:
    if isinstance(part, ast.Attribute):
        return f"{_dotted(part.value)}.{part.attr}"
    return last_name(part)


@functools.cache
def _reading_of(tree: ast.AST) -> Reading:
    parts = list(ast.walk(tree))
    unused = {id(named) for part in parts for named in _not_used_in(part)}
    read = _names_in(part for part in parts if id(part) not in unused)
    if any(_is_computed_access(part) for part in parts):
        read |= {ANY}
    chosen = (named for part in parts for named in _chosen_by(part) if id(named) not in unused)
    measured = (named for part in parts for named in _measured_by(part))
    given = {name.rpartition(".")[2] for name in _given_to(tree)}
    assigned = {part.attr for part in parts if isinstance(part, ast.Attribute)} - given
    return Reading(read, _names_in(chosen), _names_in(measured), read - assigned)


def _names_in(parts: Iterable[ast.AST]) -> frozenset[str]:
    found: set[str] = set()
    for part in parts:
        if isinstance(part, (ast.Attribute, ast.Name)) and not isinstance(part.ctx, ast.Store):
            found.add(last_name(part))
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
    return frozenset(found)


def _measured_by(part: ast.AST) -> Iterator[ast.AST]:
    match part:
        case ast.Call(ast.Name("len"), [of]):
            yield from ast.walk(of)


def _chosen_by(part: ast.AST) -> Iterator[ast.AST]:
    """Yield what a part goes by when it takes one of several ways."""
    match part:
        case ast.If(by) | ast.While(by) | ast.IfExp(by) | ast.Match(by) | (ast.Compare() as by):
            yield from ast.walk(by)


def _not_used_in(part: ast.AST) -> Iterator[ast.AST]:
    """Yield what a part names without using its value.

    That is what ``n += 1`` and ``counts['n'].append(x)`` change, what ``print(n)`` shows, and what
    says whether to show something or to go on.
    """
    match part:
        case ast.Assert(by) | ast.If(by) if only_shows(part):
            yield from ast.walk(by)
            return
        case ast.Call(function, args, keywords) if last_name(function) in SHOWING:
            for argument in (*args, *keywords):
                yield from ast.walk(argument)
            return
        case ast.AugAssign(target) | ast.Assign([ast.Subscript() as target]):
            receiver: ast.AST = target
        case ast.Expr(ast.Call(ast.Attribute(of, name))) if name in _ADDING_METHODS:
            receiver = of
        case _:
            return
    while isinstance(receiver, ast.Subscript):
        if isinstance(receiver.slice, ast.Constant):
            yield receiver.slice
        receiver = receiver.value
    yield receiver


def _is_computed_access(part: ast.AST) -> bool:
    match part:
        case ast.Attribute(attr="__dict__") | ast.Call(ast.Name("vars")):
            return True
        case ast.Call(ast.Name("getattr"), [_, name, *_]):
            return not isinstance(name, ast.Constant)
    return False
