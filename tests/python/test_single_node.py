"""The arguments of the passes that ``leapp.export`` runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import leapp._state

leapp._state.load()

from leapp import LeappError  # noqa: E402
from leapp._single_node import arguments_of_passes  # noqa: E402

X = torch.zeros(3)


@pytest.mark.parametrize(
    ("example", "positional", "named"),
    [(X, 1, []), ((X, X), 2, []), ({"a": X, "b": {"c": X}}, 0, ["a", "b"])],
)
def test_forms(example: Any, positional: int, named: list[str]) -> None:
    for args, kwargs in arguments_of_passes(example, 2):
        assert (len(args), list(kwargs)) == (positional, named)


def test_the_first_pass_has_the_example_and_later_ones_noise() -> None:
    example = {"x": X, "index": torch.tensor(2), "flag": True, "more": [np.zeros(2, np.float32)]}
    first, second = (kwargs for _, kwargs in arguments_of_passes(example, 2))
    assert torch.equal(first["x"], X) and not torch.equal(second["x"], X)
    assert int(second["index"]) == 2 and second["flag"] is True
    assert isinstance(second["more"][0], np.ndarray) and second["more"][0].any()
    again = arguments_of_passes(example, 2)[1][1]
    assert torch.equal(again["x"], second["x"])


def test_a_list_is_used_as_it_is() -> None:
    first, second = arguments_of_passes([X, (X,)], 7)
    assert first[0][0] is X and second[0][0] is X


@pytest.mark.parametrize(("example", "passes", "code"), [(3, 1, "LP002"), (X, 0, "LP003")])
def test_refusals(example: Any, passes: int, code: str) -> None:
    with pytest.raises(LeappError) as caught:
        arguments_of_passes(example, passes)
    assert caught.value.code == code
