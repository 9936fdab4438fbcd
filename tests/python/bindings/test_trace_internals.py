"""Variables of frames, which are read without keeping anything alive."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import torch
from conftest import Workbench

import leapp
from leapp import _trace, annotate


def variables() -> list[dict[str, Any]]:
    """Return the variables of this file's frames, from the caller outwards."""
    own = [local for variables, local in _trace.frames() if variables is globals()]
    return [dict(local) for local in own[1:]]


def test_variables_have_name_and_value() -> None:
    a, b = object(), [1]

    def inner(c: int) -> list[dict[str, Any]]:
        d = b  # a variable of the function around it
        return variables() if d else []

    found = inner(3)
    assert found[0]["c"] == 3 and found[0]["d"] is b and found[0]["b"] is b
    assert "a" not in found[0]
    assert found[1]["a"] is a and found[1]["b"] is b and "found" not in found[1]


def test_variables_without_a_value_are_left_out() -> None:
    gone, kept = 1, 2
    del gone
    assert variables()[0] == {"kept": kept}


def test_reading_keeps_no_value_alive() -> None:
    tensor = torch.ones(3)
    released = weakref.ref(tensor)
    assert variables()[0]["tensor"] is tensor
    del tensor
    assert released() is None


def test_the_programs_own_copy_of_its_variables_is_left_alone() -> None:
    tensor = torch.ones(3)
    copy = locals()
    assert variables()[0]["tensor"] is tensor
    assert copy["tensor"] is tensor


def test_a_module_and_a_class_body() -> None:
    found: dict[str, Any] = {}
    exec(compile("a = 1\nfound['module'] = frames()", __file__, "exec"),
         {"found": found, "frames": _trace.frames})  # fmt: skip

    class Body:
        inside = 3
        read = _trace.frames()

    variables, local = found["module"][0]
    assert local == [] and variables["a"] == 1
    assert dict(Body.read[0][1])["inside"] == 3


def test_each_thread_has_its_own_frames() -> None:
    found: list[Any] = []

    def work() -> None:
        only_here = 5
        found.append((only_here, variables()[0]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    [(value, local)] = found
    assert local["only_here"] == value and "thread" not in local


def test_a_traced_tensor_is_released_when_the_program_releases_it(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))

    def act() -> weakref.ref[torch.Tensor]:
        unused = torch.ones(1000)
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        return weakref.ref(unused)

    released = act()
    gc.collect()
    assert released() is None
