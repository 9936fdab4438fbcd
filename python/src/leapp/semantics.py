"""Semantics of tensors: names, kinds and metadata for the bundle's YAML."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Literal

from ._contract import History, Limits, Numbers, numbers, text
from .enums import InputKindEnum, OutputKindEnum
from .errors import LeappTypeError, LeappValueError, expect

__all__ = ["GraphConfigs", "History", "Limits", "TemporalAxis", "TensorSemantics"]

#: The name of a time axis inside ``element_names``.
TEMPORAL_AXIS = "__temporal_axis__"

#: Keys of a port that LEAPP itself writes.
_RESERVED = ("name", "shape", "dtype", "type")

#: Limits of extra keys in a bundle: levels, and characters, of which each value counts as one.
_MOST_LEVELS, _MOST_CHARACTERS = 32, 1 << 20

#: Names along one dimension: none, the time axis marker, or one name per element.
AxisNames = str | list[str] | None


@dataclass(frozen=True)
class TemporalAxis:
    """Marks a dimension along time steps.

    Args:
        period_ms: Milliseconds between two steps; positive.
    """

    period_ms: float

    def __post_init__(self) -> None:
        _check_positive("TemporalAxis period_ms", self.period_ms)


@dataclass
class GraphConfigs:
    """Settings of the whole graph, written to ``pipeline.configs``.

    Args:
        frequency: Intended ticks per second.
        extra: Additional keys.
        command_ranges: The range of commands, by the element names of inputs whose
            kind begins ``command/``: ``{"lin_vel_x": (-1.0, 1.5)}``.
        default_pose: The rest position of each joint.
        required_capabilities: Names of capabilities that the program on the robot must have.
    """

    frequency: float | None = None
    extra: dict[str, Any] | None = None
    command_ranges: Mapping[str, Sequence[float]] | None = None
    default_pose: Mapping[str, float] | None = None
    required_capabilities: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.frequency is not None:
            _check_positive("GraphConfigs frequency", self.frequency)
        if self.extra is not None:
            taken = [*self.contract(), *(["frequency"] if self.frequency is not None else [])]
            _check_extra("GraphConfigs extra", self.extra, taken)

    def contract(self) -> dict[str, Any]:
        """Return the keys of ``pipeline.configs`` in addition to ``frequency`` and ``extra``."""
        result: dict[str, Any] = {}
        for field_name, of in (("command_ranges", "a name"), ("default_pose", "a joint")):
            given, what = getattr(self, field_name), f"GraphConfigs {field_name}"
            if given is None:
                continue
            expect(Mapping, given, f"{what} must be a dict")
            result[field_name] = {
                text(f"{what}: {of}", key): numbers(f"{what}[{key!r}]", value)
                for key, value in given.items()
            }
        if self.required_capabilities is not None:
            what = "GraphConfigs required_capabilities"
            if isinstance(self.required_capabilities, str):
                raise LeappTypeError.of(self.required_capabilities, f"{what} must be a list")
            result["required_capabilities"] = [
                text(f"{what}: a name", name) for name in self.required_capabilities
            ]
        return result


@dataclass(eq=False)
class TensorSemantics:
    """A named tensor with its semantics.

    Args:
        name: The port's name in the bundle.
        ref: The tensor, of PyTorch or NumPy.
        kind: Its role: a member of :class:`InputKindEnum` or :class:`OutputKindEnum`, or any
            string.
        element_names: Names of the elements. A string names the whole tensor; a flat list names the
            elements of one dimension; a list with one entry per dimension may contain ``None``, a
            list of names, or a :class:`TemporalAxis`.
        extra: Additional keys of the port's YAML entry.
        unit: Unit of the values: ``"rad"``, ``"deg/s"``, ``"m"``.
        frame: Frame of the values: ``"base"``, ``"world"``.
        quaternion: ``"wxyz"`` or ``"xyzw"``; the last four elements of the last dimension.
        limits: Bounds of the values and of their rate of change.
        max_age_ms: Of an input: maximum age of a value.
        fallback: Of an output: values to send if the policy cannot be trusted: ``"hold"``,
            ``"damp"``, or these numbers.
        history: Of an input with a :class:`TemporalAxis`: the way a controller fills it.

    After construction ``element_names`` is in its per-dimension form, with a time axis written as
    ``"__temporal_axis__"`` and its period in ``temporal_period_ms``.
    """

    name: str = None  # type: ignore[assignment]
    ref: Any = None
    kind: InputKindEnum | OutputKindEnum | str | None = None
    element_names: Any = None
    temporal_period_ms: float | None = field(default=None, init=False)
    extra: dict[str, Any] | None = None
    unit: str | None = None
    frame: str | None = None
    quaternion: Literal["wxyz", "xyzw"] | None = None
    limits: Limits | None = None
    max_age_ms: float | None = None
    fallback: Literal["hold", "damp"] | Numbers | None = None
    history: History | None = None

    def __post_init__(self) -> None:
        """Check every field, and convert ``element_names`` to its per-dimension form."""
        if not isinstance(self.name, str) or not self.name:
            raise LeappTypeError.at_caller(
                "LP002", f"TensorSemantics 'name' must be a non-empty string, got {self.name!r}."
            )
        if not is_array(self.ref):
            raise LeappTypeError.of(
                self.ref,
                f"TensorSemantics 'ref' of {self.name!r} must be a torch.Tensor or a numpy.ndarray",
            )
        expect(
            (InputKindEnum, OutputKindEnum, str, NoneType),
            self.kind,
            f"TensorSemantics 'kind' of {self.name!r} must be an InputKindEnum, an OutputKindEnum "
            f"or a string",
        )
        self.contract()
        if self.extra is not None:
            taken = [*_RESERVED, *self.contract()]
            if self.kind is not None:
                taken.append("kind")
            if self.element_names is not None:
                taken += ["element_names", "temporal_period_ms"]
            _check_extra(f"TensorSemantics extra of {self.name!r}", self.extra, taken)
        if self.element_names is not None:
            given = self.element_names
            names, self.temporal_period_ms = _per_dimension(self.name, given)
            # A string names the whole tensor, whatever its shape.
            if not isinstance(given, str):
                _check_counts(self.name, names, tuple(int(n) for n in self.ref.shape))
            self.element_names = names

    def contract(self) -> dict[str, Any]:
        """Return the keys of the port's contract.

        Their values are checked against the shape when the tensor is annotated.
        """
        what = f"TensorSemantics {{}} of {self.name!r}"
        result: dict[str, Any] = {}
        for key in ("unit", "frame", "quaternion"):
            if (value := getattr(self, key)) is not None:
                result[key] = text(what.format(key), value)
        for key, form in (("limits", Limits), ("history", History)):
            if (value := getattr(self, key)) is not None:
                expect(form, value, f"{what.format(key)} must be {form.__name__}")
                result[key] = value.to_metadata()
        if self.max_age_ms is not None:
            _check_positive(what.format("max_age_ms"), self.max_age_ms)
            result["max_age_ms"] = self.max_age_ms
        if isinstance(self.fallback, str):
            if self.fallback not in ("hold", "damp"):
                raise LeappValueError.at_caller(
                    "LP003",
                    f"{what.format('fallback')} must be 'hold', 'damp' or numbers, got "
                    f"{self.fallback!r}.",
                )
            result["fallback"] = self.fallback
        elif self.fallback is not None:
            result["fallback"] = numbers(what.format("fallback"), self.fallback)
        return result


def is_ndarray(value: object) -> bool:
    """Return whether the value is a NumPy array, without importing NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_array(value: object) -> bool:
    """Return whether the value can be a port: a PyTorch tensor or a NumPy array."""
    torch = sys.modules.get("torch")
    return (torch is not None and isinstance(value, torch.Tensor)) or is_ndarray(value)


def _check_positive(what: str, value: object) -> None:
    """Refuse values other than positive numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LeappTypeError.of(value, f"{what} must be a number")
    if not (value > 0 and math.isfinite(value)):
        raise LeappValueError.coded("LP003", f"{what} must be positive and finite, got {value}.")


def _check_extra(what: str, extra: dict[str, Any], taken: list[str]) -> None:
    """Refuse values other than a dict that a bundle can contain, with unused keys."""
    expect(dict, extra, f"{what} must be a dict")
    for key in extra:
        expect(str, key, f"{what} must have strings as keys, not {key!r}")
    _check_size(what, extra)
    if clash := [key for key in extra if key in taken]:
        raise LeappValueError.at_caller(
            "LP003",
            f"{what} may not overwrite {', '.join(map(repr, clash))}: LEAPP writes it itself. "
            f"Choose another key.",
        )


def _check_size(what: str, mapping: dict[str, Any]) -> None:
    """Refuse values that are too deep or too large for a bundle, or contain themselves."""
    room = _MOST_CHARACTERS
    inside: list[tuple[Any, int]] = [(mapping, 0)]
    while inside and room >= 0:
        value, level = inside.pop()
        if is_array(value):
            room -= math.prod(value.shape)
        elif isinstance(value, (str, dict, list, tuple)):
            room -= len(value) if level <= _MOST_LEVELS else room + 1
        if room >= 0 and isinstance(value, (dict, list, tuple)):
            items = (*value, *value.values()) if isinstance(value, dict) else value
            inside += [(item, level + 1) for item in items]
    if room < 0:
        raise LeappValueError.at_caller(
            "LP003",
            f"{what} is nested deeper than {_MOST_LEVELS} levels, contains itself, or is larger "
            f"than {_MOST_CHARACTERS} characters. Put it into a separate file, and give the "
            "file's name.",
        )


def _per_dimension(name: str, given: Any) -> tuple[list[AxisNames], float | None]:
    """Return one entry per named dimension, and the period of the time axis if there is one."""
    if isinstance(given, str):
        return [[given]], None
    if isinstance(given, TemporalAxis):
        given = [given]
    expected = f"TensorSemantics 'element_names' of {name!r} must be a string or a list"
    expect(Sequence, given, expected)
    if all(isinstance(entry, str) for entry in given):
        return [list(given)], None
    names: list[AxisNames] = []
    period: float | None = None
    for axis, entry in enumerate(given):
        match entry:
            case None:
                names.append(None)
            case TemporalAxis():
                if period is not None and period != entry.period_ms:
                    raise LeappValueError.at_caller(
                        "LP003",
                        f"TensorSemantics 'element_names' of {name!r} has time axes with two "
                        f"periods, {period} ms and {entry.period_ms} ms, but a tensor can have "
                        "only one.",
                    )
                period = float(entry.period_ms)
                names.append(TEMPORAL_AXIS)
            case [*items] if all(isinstance(item, str) for item in items):
                names.append(items)
            case _:
                raise LeappTypeError.at_caller(
                    "LP002",
                    f"TensorSemantics 'element_names' of {name!r}: entry {axis} must be None, a "
                    f"TemporalAxis or a list of strings, got {entry!r}.",
                )
    return names, period


def _check_counts(name: str, names: list[AxisNames], shape: tuple[int, ...]) -> None:
    """Refuse names whose number does not match the tensor's shape."""
    counts = [len(entry) if isinstance(entry, list) else None for entry in names]

    def fits(axes: Sequence[int]) -> bool:
        return all(count in (None, size) for count, size in zip(counts, axes, strict=True))

    if len(names) == 1 and counts[0] is not None and len(shape) != 1:
        # A flat list: the names of one dimension (batch dimensions aside), or of all elements.
        matches = counts[0] in (*shape, math.prod(shape))
        found = f"{counts[0]} names fit no dimension"
    elif len(names) > len(shape):
        matches = False
        found = f"{len(names)} dimensions are named but the tensor has {len(shape)}"
    else:
        matches = fits(shape[: len(names)]) or fits(shape[len(shape) - len(names) :])
        found = f"the numbers of names are {counts}"
    if matches:
        return
    raise LeappValueError.at_caller(
        "LP003",
        f"TensorSemantics 'element_names' of {name!r} does not match its shape {list(shape)}: "
        f"{found}. Give one name per element, or None for a dimension without names.",
    )
