"""Facts from the program's source: names of returned variables, and values that are only shown."""

from __future__ import annotations

import dis
import logging
from types import CodeType
from typing import Any

import pytest

import leapp._state

leapp._state.load()

from leapp._source import only_shown, shown_returns  # noqa: E402

log = logging.getLogger("test")


def one(a: Any) -> Any:
    return a


def two(a: Any, b: Any) -> Any:
    def inner() -> Any:
        return b

    if inner():
        return a, a + b
    return b


def starred(a: Any) -> Any:
    return (*a, 1)


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (one, {None: ["a"]}),
        (two, {2: ["a", None], None: ["b"]}),
        (starred, {}),
        (len, {}),
        (eval("lambda a: a"), {}),
    ],
)
def test_returned_variables(function: Any, names: dict[Any, Any]) -> None:
    assert shown_returns(function) == names


def shows(x: float) -> float:
    print(x * 2)
    log.info("%s", x * 3)
    assert x * 4 != 1
    if x * 5 > 1:
        print("large")
    return x * 6


def factors_shown(code: CodeType) -> dict[int, bool]:
    """Return, for each literal that x is multiplied by, whether the product is only shown."""
    found: dict[int, bool] = {}
    factor: Any = None
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith(("LOAD_CONST", "LOAD_SMALL_INT")):
            factor = instruction.argval
        elif instruction.opname.startswith("BINARY_OP") and isinstance(factor, int):
            found[factor] = only_shown(code, instruction.offset)
    return found


@pytest.mark.skipif(not hasattr(CodeType, "co_positions"), reason="before Python 3.11")
def test_values_that_are_only_shown() -> None:
    assert factors_shown(shows.__code__) == {2: True, 3: True, 4: True, 5: True, 6: False}
    assert not only_shown(shows.__code__, -1)
