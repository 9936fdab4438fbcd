"""Queries and reports of the front end, and values that are not observed."""

from __future__ import annotations

import threading

import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import _trace, annotate

X = torch.ones(2)


def test_open_nodes_and_passes(bench: Workbench) -> None:
    with bench.trace():
        assert (_trace.any_open(), _trace.open_nodes(), _trace.pass_of("n")) == (False, [], 0)
        for i in range(1, 4):
            x = annotate.input_tensors("n", {"x": X})
            assert (_trace.any_open(), _trace.open_nodes(), _trace.pass_of("n")) == (
                True,
                ["n"],
                i,
            )
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
            assert (_trace.any_open(), _trace.open_nodes(), _trace.pass_of("n")) == (False, [], i)
        annotate.input_tensors("n", {"x": X})
        annotate.abandon("n")
        assert _trace.pass_of("n") == 3
        assert _trace.pass_of("m") == 0
    with pytest.raises(TypeError):
        _trace.any_open(1)  # type: ignore[call-arg]


def test_traced_tensors(bench: Workbench) -> None:
    assert not _trace.is_traced(X)
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        y = x * 2
        assert [_trace.is_traced(each) for each in (x, y, y[0], torch.ones(2))] == [
            True,
            True,
            True,
            False,
        ]
        annotate.output_tensors("n", {"y": y}, export_with="jit")
        assert _trace.is_traced(y)
    assert not _trace.is_traced(y)
    for value in (None, 3.0, [1.0]):
        with pytest.raises(TypeError):
            _trace.is_traced(value)  # type: ignore[arg-type]


def test_nothing_is_traced_inside_unobserved(bench: Workbench) -> None:
    elsewhere: list[bool] = []
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        with _trace.Unobserved() as outer:
            assert isinstance(outer, _trace.Unobserved)
            with _trace.Unobserved():
                inner = x + 1
            assert not _trace.is_traced(x)
            hidden = x + 100
            thread = threading.Thread(target=lambda: elsewhere.append(_trace.is_traced(x)))
            thread.start()
            thread.join()
        assert _trace.is_traced(x)
        assert not _trace.is_traced(hidden) and not _trace.is_traced(inner)
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    assert elsewhere == [True]  # the scope belongs to its thread
    assert bench.compile() == {"n": True}
    assert "add" not in bench.log()


def test_an_exception_ends_the_scope(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        with pytest.raises(ZeroDivisionError), _trace.Unobserved():
            raise ZeroDivisionError
        assert _trace.is_traced(x)
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")


@pytest.mark.parametrize(("pickled", "code"), [(False, "LP202"), (True, "LP214")])
def test_values_that_leave(bench: Workbench, pickled: bool, code: str) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        for _ in range(2):
            _trace.note_escape(x, "it leaves", pickled)
        _trace.note_escape(torch.ones(2), "not traced", pickled)
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    [(found, level, where, node, text, settled)] = _trace.diagnostics()
    assert (found, level, node, settled) == (code, "WARNING", "n", False)
    assert __file__ in where and text.startswith("it leaves")


def test_a_session_ends_outside_functions(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    _trace.enter_function("n")
    with refused("LP103", "'n'"):
        _trace.stop()
    assert _trace.is_active()
    _trace.leave_function("n")
    _trace.stop()
    assert not _trace.is_active()


def test_values_from_before_the_pass(bench: Workbench) -> None:
    weight = torch.full((2,), 3.0)
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        y = x * weight
        assert [each.data_ptr() for each in _trace.outside_of(weight)] == [weight.data_ptr()]
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    assert _trace.outside_of(y) == []
