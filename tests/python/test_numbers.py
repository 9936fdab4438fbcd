"""The numbers among operator arguments that the inventory lists, selected by their source line."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import leapp._state

leapp._state.load()

from leapp import _numbers  # noqa: E402

GAIN, LIMIT = 0.4375, 6.25


def literal(x: Any) -> Any:
    return x * 0.25


def product(x: Any) -> Any:
    return x * GAIN


def clipped(x: Any) -> Any:
    return torch.clip(x, LIMIT)


def through_a_library(x: Any) -> Any:
    return torch.nn.functional.normalize(x)


def keyword(x: Any) -> Any:
    return torch.add(x, x, alpha=GAIN)


def item(x: Any) -> Any:
    return x[LIMIT]


def head(x: Any) -> Any:
    return x[:3]


def unpacked(x: Any) -> Any:
    first, _ = x * 1
    return first


def selected(x: Any) -> Any:
    return torch.select(x, 0, LIMIT)


def position_of_last_operation(function: Callable[..., Any]) -> int:
    names = ("BINARY_OP", "BINARY_SUBSCR", "BINARY_SLICE", "CALL")
    found = [i for i in dis.get_instructions(function) if i.opname.startswith(names)]
    return found[-1].offset


@pytest.mark.parametrize(
    ("function", "op", "value", "is_default", "path"),
    [
        (literal, "aten::mul", 0.25, False, None),
        (product, "aten::mul", GAIN, False, "held"),
        (clipped, "aten::clamp", LIMIT, False, "held"),
        (through_a_library, "aten::clamp_min", 1e-12, False, None),
        (keyword, "aten::add", GAIN, True, "held"),
        (through_a_library, "aten::add", 1.0, True, None),
        (item, "aten::select", LIMIT, False, "held"),
        (selected, "aten::select", LIMIT, False, "held"),
        (head, "aten::slice", 0, False, None),
        (unpacked, "aten::select", 1, False, None),
    ],
)
def test_by_the_line(
    monkeypatch: pytest.MonkeyPatch,
    function: Callable[..., Any],
    op: str,
    value: float,
    is_default: bool,
    path: str | None,
) -> None:
    monkeypatch.setattr(
        _numbers, "path_of_number", lambda number: "held" if number in (GAIN, LIMIT) else ""
    )
    argument = "alpha" if op == "aten::add" else "other"
    position = position_of_last_operation(function)
    read = (function.__code__, position, op, argument, [value], is_default, False)
    assert _numbers.judge([read]) == [path]


def made(x: Any) -> Any:
    a = torch.tensor([0.5, -1.5])
    b = torch.tensor([GAIN, 0.5])
    c = np.zeros((1, int(GAIN)))
    d = torch.full((2,), GAIN)
    e = np.array([0.1] * 3)
    f = np.add(x, [0.25, 0.75])
    c[0, 0] = 0.25
    c[0, 0] = GAIN
    return a, b, c, d, e, f


@pytest.mark.parametrize(
    ("line", "values", "verdict"),
    [
        (1, [0.5, -1.5], None),
        (2, [GAIN, 0.5], ""),  # also if the number equals a literal
        (2, [0.5, 0.5], ""),
        (3, [0.0], None),
        (4, [GAIN, GAIN], ""),
        (5, [0.1, 0.1, 0.1], None),
        (6, [0.25, 0.75], None),
        (6, [0.0, 0.0], ""),
        (7, [0.25], None),
        (8, [0.0], ""),
    ],
)
def test_elements_of_a_tensor_made_here_are_literals_or_listed(
    line: int, values: list[float], verdict: str | None
) -> None:
    code = made.__code__
    lines = [instruction for _, _, instruction in code.co_lines()]
    wanted = code.co_firstlineno + line
    position = next(
        2 * i for i, place in enumerate(_numbers._positions_of(code)) if place[0] == wanted
    )
    assert wanted in lines
    assert _numbers.judge([(code, position, "", "", values, False, True)]) == [verdict]


def test_without_a_line_a_number_has_no_path() -> None:
    assert _numbers.judge([(None, 0, "aten::mul", "other", [GAIN], False, False)]) == [""]


def test_without_its_source_every_number_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numbers, "path_of_number", lambda _: "")
    scope: dict[str, Any] = {}
    exec("def f(x): return x * 0.25", scope)
    assert _numbers.judge([(scope["f"].__code__, 4, "aten::mul", "other", [0.25], 0, 0)]) == [""]
