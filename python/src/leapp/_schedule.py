"""The schedule that ``leapp.start()`` or an annotation states, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .errors import LeappValueError, expect

#: Node, every, phase, repeat, carry, index, when, on_change and age.
Entry = tuple[str, int, int, int, dict[str, str], str, str, list[str], dict[str, str]]

_KEYS = ("every", "phase", "repeat", "carry", "index", "when", "on_change", "age")


def checked(schedule: Mapping[str, Mapping[str, Any]] | None) -> list[Entry]:
    """Return the entries of a schedule for the compiled module."""
    where = "leapp.start(schedule=..)"
    expect((Mapping, type(None)), schedule, f"{where} maps names of nodes to entries")
    return [entry_of(node, entry, where) for node, entry in (schedule or {}).items()]


def entry_of(node: str, entry: Mapping[str, Any], where: str) -> Entry:
    """Return the entry of one node for the compiled module."""
    expect(str, node, f"{where} takes names of nodes")
    expect(Mapping, entry, f"{where}: the entry of node '{node}' must be a mapping")
    for key in entry:
        if key not in _KEYS:
            raise LeappValueError.at_caller(
                "LP003",
                f"{where}: the entry of node '{node}' has the unknown key {key!r}; it may have "
                f"{', '.join(_KEYS)}.",
            )
    reader = _Reader(entry, f"{where}: of node '{node}',")
    _require_port(entry.get("when"), f"{where}: of node '{node}', 'when'")
    return (
        node,
        reader.number("every", 1),
        reader.number("phase", 0),
        reader.number("repeat", 1),
        reader.names_by_name("carry"),
        reader.text("index"),
        reader.text("when"),
        reader.names("on_change"),
        reader.names_by_name("age"),
    )


def _require_port(value: str | None, what: str) -> None:
    if value is not None and len([part for part in value.split("/") if part]) != 2:
        raise LeappValueError.at_caller("LP003", f"{what} must be 'node/port', found {value!r}.")


class _Reader:
    """Reads the keys of one entry."""

    def __init__(self, entry: Mapping[str, Any], what: str) -> None:
        self._entry = entry
        self._what = what

    def number(self, key: str, default: int) -> int:
        value = self._entry.get(key, default)
        expect(int, value, f"{self._what} '{key}' must be a whole number")
        return int(value)

    def text(self, key: str) -> str:
        value = self._entry.get(key, "")
        expect(str, value, f"{self._what} '{key}' must be a string")
        return str(value)

    def names(self, key: str) -> list[str]:
        value = self._entry.get(key, [])
        expect(Iterable, value, f"{self._what} '{key}' must be a list of inputs")
        names = [value] if isinstance(value, str) else list(value)
        for name in names:
            expect(str, name, f"{self._what} '{key}' must be a list of inputs")
        return names

    def names_by_name(self, key: str) -> dict[str, str]:
        value = self._entry.get(key, {})
        expect(Mapping, value, f"{self._what} '{key}' must be a mapping of names")
        for name in [*value, *value.values()]:
            expect(str, name, f"{self._what} '{key}' must be a mapping of names")
        return dict(value)
