"""The calls of annotations into LEAPP, and the time at which the compiled module is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from conftest import Workbench

import leapp
from leapp import _state, _untraced


def test_annotations_load_nothing() -> None:
    program = (
        "import sys, leapp; from leapp import _state, annotate\n"
        "annotate.input_tensors('n', leapp.TensorSemantics('x', __import__('numpy').ones(2)))\n"
        "assert not _state.loaded() and not _state.is_active()\n"
        "assert 'torch' not in sys.modules and 'leapp._trace' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_calls_depend_on_the_active_mode(bench: Workbench) -> None:
    assert _state.calls is _untraced
    with bench.trace():
        from leapp import _tracing

        assert _state.loaded() and _state.is_active()
        assert _state.calls is _tracing
    assert not _state.is_active()
    assert _state.calls is _untraced


def test_a_stop_that_refuses_leaves_the_session(bench: Workbench) -> None:
    from leapp import _tracing

    with bench.trace():
        leapp.annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(leapp.LeappError) as caught:
            leapp.stop()
        assert caught.value.code == "LP107"
        assert _state.calls is _tracing


def test_a_later_minor_version_of_the_same_torch_is_taken() -> None:
    version = torch.__version__.split("+")[0]
    _state._check_build(version.rpartition(".")[0] + ".99")
