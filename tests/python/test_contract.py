"""The contract of a port: the form of limits, histories and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leapp import LeappError
from leapp._contract import History, Limits, numbers, text


@pytest.mark.parametrize(
    ("limits", "written"),
    [
        (Limits(), {}),
        (Limits(lower=-1, upper=[1, 2.5]), {"lower": -1, "upper": [1, 2.5]}),
        (Limits(rate=np.float32(2)), {"rate": 2.0}),
        (Limits(upper=1, on_violation="stop"), {"upper": 1, "on_violation": "stop"}),
    ],
)
def test_limits(limits: Limits, written: dict[str, Any]) -> None:
    assert limits.to_metadata() == written


def test_histories() -> None:
    assert History().to_metadata() == {"order": "oldest_first", "start": "repeat"}
    assert History("newest_first", np.zeros(2)).to_metadata() == {
        "order": "newest_first",
        "start": [0.0, 0.0],
    }


@pytest.mark.parametrize("value", [True, "1", [], [1, "2"], [True], None, {"a": 1}])
def test_nan_is_refused(value: Any) -> None:
    with pytest.raises(LeappError) as caught:
        numbers("it", value)
    assert caught.value.code == "LP002"


def test_texts_hold_something() -> None:
    assert text("it", "rad") == "rad"
    for value, code in (("", "LP003"), (3, "LP002")):
        with pytest.raises(LeappError) as caught:
            text("it", value)  # type: ignore[arg-type]
        assert caught.value.code == code
