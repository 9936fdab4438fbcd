"""Numbers that operators of a node receive, and which of them the inventory lists.

PyTorch's operators receive a number without its origin, so the source is read: a literal of the
line, or a number of library code, is not listed. A number that the line computes with is listed,
and named if exactly one number of the program has that value.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

import numpy as np

from ._holders import path_of_number

#: Syntax that runs an operator directly.
_DIRECT = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.Subscript)
#: Functions, by the differently named operators that they run.
_ALIASES = {"clip": "clamp", "div": "true_divide", "concat": "cat", "concatenate": "cat"}

#: Operators that take items of a tensor.
_ITEMS = ("aten::select", "aten::slice")

#: Functions that fill their results with 0 or 1, and those that take the elements.
_FILLS = frozenset(
    "zeros ones empty eye identity zeros_like ones_like empty_like empty_strided".split()
)
_CONSTRUCTORS = frozenset(
    "tensor as_tensor array asarray asanyarray full full_like scalar_tensor Tensor FloatTensor "
    "arange linspace float16 float32 float64 int8 int16 int32 int64 uint8 bool_".split()
)
#: Keywords that name these elements.
_DATA = ("data", "object", "fill_value")

_Read = tuple[CodeType | None, int, str, str, list[float], bool, bool]


def judge(reads: Iterable[_Read]) -> list[str | None]:
    """Return for each read the path of the number (may be ``""``), or None if it is not listed."""
    return [_judge(*read) for read in reads]


def _judge(
    code: CodeType | None, position: int, op: str, argument: str, values: list[float],
    is_default: bool, made_here: bool,
) -> str | None:  # fmt: skip
    if code is None:
        return ""
    if made_here:
        made = any(_states(each, values) for each in _expressions_at(code, position, stores=True))
        return None if made else ""
    expressions = _expressions_at(code, position)
    value = values[0]
    if op in _ITEMS and _parts_of(code.co_filename) and not _takes_item(expressions, op, values):
        return None
    if not expressions:
        return path_of_number(value)  # without its source, everything is listed
    literals = _literals_in(itertools.chain.from_iterable(map(ast.walk, expressions)))
    if _is_literal(value, literals):
        return None
    if is_default and not any(_has_keyword(each, argument) for each in expressions):
        return None
    path = path_of_number(value)
    if any(_runs(each, op) for each in expressions):
        return path
    names = {name for each in expressions for name in _names_in(each)}
    return path if path and path.rpartition(".")[2] in names else None


def _expressions_at(code: CodeType, position: int, *, stores: bool = False) -> list[ast.AST]:
    """Return the innermost expression at a position, or the expressions that begin on its line.

    With `stores`, assignments count as expressions, at the place to which they write.
    """
    places = _positions_of(code)
    if position // 2 >= len(places):
        return []
    place = places[position // 2]
    parts = [
        part for part in _parts_of(code.co_filename) if stores or not isinstance(part, ast.Assign)
    ]
    found = [part for part in parts if _place_of(part) == place]
    return found or [part for part in parts if part.lineno == place[0]]


@functools.lru_cache(maxsize=256)
def _positions_of(code: CodeType) -> list[tuple[int | None, ...]]:
    if hasattr(code, "co_positions"):
        return list(code.co_positions())
    lines = [(line,) for start, end, line in code.co_lines() for _ in range(start, end, 2)]
    return [(*line, None, None, None) for line in lines]


@functools.lru_cache(maxsize=64)
def _parts_of(file: str) -> list[Any]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return []
    return [part for part in ast.walk(tree) if isinstance(part, (*_DIRECT, ast.Call, ast.Assign))]


def _place_of(part: Any) -> tuple[int | None, ...]:
    if isinstance(part, ast.Assign):  # where it writes
        part = part.targets[0]
    return part.lineno, part.end_lineno, part.col_offset, part.end_col_offset


def _runs(part: ast.AST, op: str) -> bool:
    """Return whether an expression runs the operator directly, not through a library."""
    if not isinstance(part, ast.Call):
        return True
    name = op.rpartition("::")[2].strip("_")
    called = _called_by(part).strip("_")
    return name in (called, _ALIASES.get(called))


def _called_by(part: ast.AST) -> str:
    """Return the name of the function that an expression calls, without its module."""
    called = part.func if isinstance(part, ast.Call) else None
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _takes_item(expressions: Iterable[ast.AST], op: str, values: list[float]) -> bool:
    """Return whether an expression states the position of the items that an operator takes.

    Otherwise the position comes from unpacking or iteration, or from a slice without a start.
    """
    if op == "aten::slice" and values == [0]:
        return False
    return any(
        _runs(each, op) if isinstance(each, ast.Call) else isinstance(each, ast.Subscript)
        for each in expressions
    )


def _has_keyword(part: ast.AST, argument: str) -> bool:
    return isinstance(part, ast.Call) and any(each.arg == argument for each in part.keywords)


def _names_in(part: ast.AST) -> Iterator[str]:
    for each in ast.walk(part):
        if isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.Name):
            yield each.id


def _literals_in(parts: Iterable[ast.AST]) -> set[float]:
    values = (part.value for part in parts if isinstance(part, ast.Constant))
    return {abs(value) for value in values if isinstance(value, (int, float))}


def is_literal_of(code: CodeType, position: int, value: Any) -> bool:
    """Return whether a NumPy number is a literal of the expression at that position."""
    if value.dtype.kind not in "fiub":
        return False
    if not _parts_of(code.co_filename):  # without its source
        constants = [abs(each) for each in code.co_consts if isinstance(each, (int, float))]
        return _is_literal(float(value), constants)
    return any(_states(each, [float(value)]) for each in _expressions_at(code, position))


def _states(part: ast.AST, values: list[float]) -> bool:
    """Return whether an expression contains all these elements of a new tensor as literals."""
    name = _called_by(part)
    if name in _FILLS:
        return True
    if isinstance(part, ast.Call) and name in _CONSTRUCTORS:
        given = part.args[1:] if name.startswith("full") else part.args[:1]
        given += [each.value for each in part.keywords if each.arg in _DATA]
        if not all(map(_is_written_out, given)):
            return False
    elif isinstance(part, ast.Assign):  # to items of a tensor
        part = part.value
        if not _is_written_out(part):
            return False
    elif isinstance(part, ast.Subscript):
        return False  # its literals are indices
    literals = _literals_in(ast.walk(part))
    return all(_is_literal(value, literals) for value in values)


def _is_written_out(part: ast.AST) -> bool:
    """Return whether an expression consists of literals only."""
    parts = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.unaryop, ast.expr_context)
    repeated = (ast.BinOp, ast.operator)  # [0.1] * 12
    return all(isinstance(each, (*parts, *repeated)) for each in ast.walk(part))


def _is_literal(value: float, literals: Iterable[float]) -> bool:
    """Return whether a value equals a literal, also after rounding to a tensor's element type."""
    size = abs(value)
    return any(size == each or size == float(np.float32(each)) for each in literals)
