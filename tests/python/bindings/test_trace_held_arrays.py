"""The arrays and numbers that a program holds, with checksums."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from leapp import _trace


def test_arrays_in_variables_objects_and_tuples_are_held() -> None:
    local = np.arange(3.0)
    holder = SimpleNamespace(array=np.arange(4.0), pair=(np.arange(5.0), {"a": np.arange(6.0)}))
    held = _trace.HeldArrays()
    arrays = (local, holder.array, holder.pair[0], holder.pair[1]["a"])
    assert [held.verdict_on(each) for each in arrays] == ["held"] * 4
    assert held.verdict_on(np.arange(3.0)) == "unknown"


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[2:3],
        lambda a: a[::-1],
        lambda a: a.reshape(2, 4).T,
        lambda a: a[:0],
        lambda a: a.view(np.uint8),
        lambda a: np.frombuffer(memoryview(a), np.int32),
        lambda a: np.broadcast_to(a, (3, 8)),
    ],
)
def test_views_belong_to_their_memory(view: Any) -> None:
    base = np.arange(8.0)
    held = _trace.HeldArrays()
    assert held.verdict_on(view(base)) == "held"
    assert held.verdict_on(view(base.copy())) == "unknown"


@pytest.mark.parametrize("index", [0, 5, 7])
def test_a_write_anywhere_in_the_memory_shows(index: int) -> None:
    base = np.arange(8.0)
    part = base[2:4]
    held = _trace.HeldArrays()
    base[index] += 1
    assert held.verdict_on(part) == "changed"
    base[index] -= 1
    assert held.verdict_on(part) == "held"


def test_memory_that_was_released_is_not_held() -> None:
    big = np.zeros(1 << 18)
    held = _trace.HeldArrays()
    address = big.ctypes.data
    assert held.verdict_on(big) == "held"
    del big
    again = [np.zeros(1 << 18) for _ in range(4)]
    found = [held.verdict_on(each) for each in again if each.ctypes.data == address]
    assert set(found) <= {"unknown"}
    assert held.verdict_on(again[-1]) == "unknown"


def test_arrays_without_a_checksum_count_as_unchanged() -> None:
    objects = np.array([[1], [2]], object)
    strided = np.lib.stride_tricks.as_strided(np.arange(64.0), (4, 4), (128, 16))
    large = np.zeros((1 << 22) // 8 + 1)
    held = _trace.HeldArrays()
    objects[0] = [3]
    large[0] = 1.0
    assert held.verdict_on(objects) == "held"
    assert held.verdict_on(large) == "held"
    assert held.verdict_on(strided) == "held"


def test_numbers_are_told_by_identity() -> None:
    number, holder = np.float32(0.25), SimpleNamespace(count=np.int64(3))
    held = _trace.HeldArrays()
    assert held.holds_number(number) and held.holds_number(holder.count)
    assert not held.holds_number(np.float32(0.25))
    assert not held.holds_number(0.25)


@pytest.mark.parametrize("value", [None, [1.0], memoryview(b"")])
def test_only_arrays_have_a_verdict(value: Any) -> None:
    with pytest.raises(TypeError):
        _trace.HeldArrays().verdict_on(value)
