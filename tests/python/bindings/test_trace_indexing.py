"""Indexing by tensors that may vary: get_item(), set_item() and Subscriptable."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import _trace, annotate

ROWS = torch.arange(12.0).reshape(3, 4)


@pytest.fixture
def head(bench: Workbench) -> torch.Tensor:
    """Return a number of an open node."""
    leapp.start("g", save_path=str(bench.folder))
    found: torch.Tensor = annotate.input_tensors("n", {"head": torch.tensor(1)})
    return found


@pytest.mark.parametrize(
    "index", [0, slice(1), None, ..., [0, 1], (0, slice(None)), torch.tensor([0, 2]), ()], ids=repr
)
def test_plain_indices_are_left_to_pytorch(head: torch.Tensor, index: Any) -> None:
    assert _trace.get_item(ROWS.clone(), index) is NotImplemented
    assert _trace.set_item(ROWS.clone(), index, 0.0) is False


def test_numbers_that_cannot_vary_are_left_to_pytorch(head: torch.Tensor) -> None:
    for index in (head.double(), head.bool(), head.reshape(1)):
        assert _trace.get_item(ROWS, index) is NotImplemented
    with _trace.Unobserved():
        assert _trace.get_item(ROWS, head) is NotImplemented
        assert _trace.set_item(ROWS.clone(), head, 0.0) is False


@pytest.mark.parametrize(
    "index_by",
    [
        lambda h: h,
        lambda h: (h,),
        lambda h: (h, slice(1, 3)),
        lambda h: (slice(None), h),
        lambda h: (..., h),
        lambda h: (None, h, 2),
        lambda h: (h, h),
        lambda h: (-h, h - 1),
    ],
)
def test_it_reads_and_writes_as_plain_indexing(head: torch.Tensor, index_by: Any) -> None:
    index = index_by(head)
    number = index_by(1)
    found = _trace.get_item(ROWS, index)
    assert found.shape == ROWS[number].shape and torch.equal(found, ROWS[number])
    for value in (7, torch.full_like(ROWS[number], 8)):
        target, expected = ROWS.clone(), ROWS.clone()
        assert _trace.set_item(target, index, value) is True
        expected[number] = value
        assert torch.equal(target, expected)


def test_a_written_number_has_the_type_of_the_tensor(head: torch.Tensor) -> None:
    for dtype in (torch.int8, torch.float64, torch.bool):
        target = torch.zeros(3, dtype=dtype)
        assert _trace.set_item(target, head, 1)
        assert (target.dtype, target.tolist()) == (dtype, [0, 1, 0])
    with pytest.raises(TypeError):
        _trace.set_item(torch.zeros(3), head, "one")


def test_an_index_beyond_the_end(head: torch.Tensor) -> None:
    with pytest.raises(IndexError):
        _trace.get_item(ROWS, (head, head, head))


def test_subscriptable_is_no_sequence() -> None:
    class Part(_trace.Subscriptable):
        def _item(self, index: Any) -> Any:
            if index == "bad":
                raise KeyError(index)
            return index

    part = Part()
    assert (part[1], part[1:2], part[..., None]) == (1, slice(1, 2), (..., None))
    assert part[(1, 2)] == (1, 2) and part[()] == ()
    with pytest.raises(KeyError):
        part["bad"]
    with pytest.raises(TypeError):
        iter(part)
    with pytest.raises(TypeError):
        _ = 1 in part  # type: ignore[operator]
    with pytest.raises(TypeError):
        part[0] = 1  # type: ignore[index]
    with pytest.raises(AttributeError):
        _trace.Subscriptable()[0]
