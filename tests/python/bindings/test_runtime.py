"""The module _runtime: the console, the translation of errors, and functions without a class."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small_bundles

import leapp
from leapp import _console, _runtime


@pytest.fixture(autouse=True)
def _console_of_the_package() -> Iterator[None]:
    assert leapp.InferenceManager  # importing it sets the console
    yield
    _runtime.set_console(_console.emit, _console.DEBUG)


def test_the_console_receives_level_and_text(tmp_path: Path) -> None:
    lines: list[tuple[int, str]] = []
    _runtime.set_console(lambda *line: lines.append(line), _console.DEBUG)
    leapp.InferenceManager(small_bundles.recurrent(tmp_path), array="numpy")
    assert [(type(level), type(text)) for level, text in lines] == [(int, str)] * len(lines)
    assert [level for level, text in lines if "[LP621]" in text] == [_console.WARNING]


def test_lines_below_the_level_are_not_passed(tmp_path: Path) -> None:
    lines: list[tuple[int, str]] = []
    _runtime.set_console(lambda *line: lines.append(line), _console.ERROR)
    leapp.InferenceManager(small_bundles.recurrent(tmp_path), array="numpy")
    assert lines == []


def test_a_console_that_raises_is_reported_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: raised.append(args.exc_type))

    def emit(level: int, text: str) -> None:
        raise BrokenPipeError

    _runtime.set_console(emit, _console.WARNING)
    manager = leapp.InferenceManager(small_bundles.recurrent(tmp_path), array="numpy")
    assert manager.feedback_inputs == ["n/h_in"]
    assert raised == [BrokenPipeError]


def test_a_replaced_console_is_released() -> None:
    class Emit:
        def __call__(self, level: int, text: str) -> None: ...

    emit = Emit()
    gone = weakref.ref(emit)
    _runtime.set_console(emit, _console.DEBUG)
    del emit
    gc.collect()
    assert gone() is not None
    _runtime.set_console(_console.emit, _console.DEBUG)
    assert gone() is None


@pytest.mark.parametrize(
    ("text", "kind", "builtin", "code"),
    [
        (None, leapp.errors.LeappNotFoundError, FileNotFoundError, "LP004"),
        (b"models: 3\n", leapp.errors.LeappValueError, ValueError, "B3"),
    ],
)
def test_errors_have_the_class_and_code_of_their_kind(
    tmp_path: Path, text: bytes | None, kind: type[Exception], builtin: type[Exception], code: str
) -> None:
    path = tmp_path / "a.yaml"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(builtin) as caught:
        leapp.InferenceManager(path)
    assert (type(caught.value), caught.value.code) == (kind, code)  # type: ignore[attr-defined]


def test_messages_that_quote_broken_text_are_readable(tmp_path: Path) -> None:
    bundle = small_bundles.affine(tmp_path)
    bundle.write_bytes(bundle.read_bytes().replace(b"float32", b"float\xff2", 1))
    with pytest.raises(leapp.LeappError) as caught:
        leapp.InferenceManager(bundle)
    str(caught.value).encode()
    assert caught.value.code.startswith("B")


@pytest.mark.parametrize(
    ("operator", "computes"),
    [("add", True), ("add_", True), ("save", False), ("mylib::add", False)],
)
def test_operators_that_only_compute(operator: str, computes: bool) -> None:
    assert _runtime.only_computes(operator) is computes


@pytest.mark.parametrize(
    ("text", "is_kept"), [("plain ü", True), ("", True), ("a\x1b[2J", False), ("\u202e", False)]
)
def test_printable_text(text: str, is_kept: bool) -> None:
    shown = _runtime.printable(text)
    assert shown.isprintable()
    assert (shown == text) is is_kept
