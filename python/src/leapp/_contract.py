"""The contract of a port: limits, histories, and their form in the bundle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .errors import LeappTypeError, LeappValueError, expect

#: One number for all elements, or one for each element of the last dimension.
Numbers = float | Sequence[float]


@dataclass(frozen=True)
class Limits:
    """Bounds of a port's values. Each is one number for all elements, or one for each.

    Args:
        lower: The smallest value. upper: The largest value.
        rate: The largest change per second; positive.
        on_violation: ``"clamp"`` replaces a value by the nearest allowed one; ``"stop"`` makes the
            controller send its fallback until it is restarted.
    """

    lower: Numbers | None = None
    upper: Numbers | None = None
    rate: Numbers | None = None
    on_violation: Literal["clamp", "stop"] = "clamp"

    def to_metadata(self) -> dict[str, Any]:
        """Return the mapping for the bundle."""
        result: dict[str, Any] = {
            key: numbers(f"Limits {key}", value)
            for key in ("lower", "upper", "rate")
            if (value := getattr(self, key)) is not None
        }
        if self.on_violation != "clamp":
            result["on_violation"] = self.on_violation
        return result


@dataclass(frozen=True)
class History:
    """The way a controller fills the :class:`TemporalAxis` of an input.

    Args:
        order: Order of the steps along the axis: the oldest or the newest first.
        start: Content of the axis before the first value: ``"repeat"`` (the first value), one
            number for all elements, or one for each.
    """

    order: Literal["oldest_first", "newest_first"] = "oldest_first"
    start: Literal["repeat"] | Numbers = "repeat"

    def to_metadata(self) -> dict[str, Any]:
        """Return the mapping for the bundle."""
        start = self.start if isinstance(self.start, str) else numbers("History start", self.start)
        return {"order": self.order, "start": start}


def numbers(what: str, value: Any) -> float | list[float]:
    """Return one number or a list of numbers; arrays and tensors count as lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str):
        result = [item.item() if hasattr(item, "item") else item for item in value]
        if result and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in result):
            return result
    raise LeappTypeError.of(value, f"{what} must be a number or a list of numbers")


def text(what: str, value: str) -> str:
    """Return the string, which is not empty."""
    expect(str, value, f"{what} must be text")
    if not value:
        raise LeappValueError.coded("LP003", f"{what} must not be empty.")
    return value
