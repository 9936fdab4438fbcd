"""The program's code, its lines, and the sequence slot of tensors."""

from __future__ import annotations

import json
import logging
import sysconfig
import threading
from collections.abc import Sequence
from operator import length_hint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench

import leapp
from leapp import _trace, annotate

STANDARD = sysconfig.get_path("stdlib")


@pytest.mark.parametrize(
    ("file", "users"),
    [
        (__file__, True),
        ("policy.py", True),
        ("", True),
        ("<stdin>", True),
        ("<string>", True),
        ("<frozen importlib._bootstrap>", False),
        ("<eval_with_key>.7", False),
        (f"{STANDARD}/json/decoder.py", False),
        (f"{STANDARD}/site-packages/mylib/policy.py", True),
        (f"{STANDARD}/dist-packages/mylib/policy.py", True),
        (str(Path(torch.__file__).parent / "nn/functional.py"), False),
        (str(Path(np.__file__).parent / "linalg/linalg.py"), False),
        (str(Path(leapp.__file__).parent / "_session.py"), False),
        (str(Path(torch.__file__).parent) + "vision/ops.py", True),
    ],
)
def test_files_of_the_program(file: str, users: bool) -> None:
    assert _trace.is_user_code(file) is users
    code = compile("def f(): pass", file, "exec")
    assert [_trace.is_user_code(code) for _ in range(2)] == [users, users]


def test_code_objects_of_this_file_and_of_libraries() -> None:
    def here() -> None: ...

    assert _trace.is_user_code(here.__code__)
    for function in (json.loads, logging.info, torch.nn.functional.relu, annotate.abandon):
        assert not _trace.is_user_code(function.__code__)
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(_trace.is_user_code(here.__code__)))
    thread.start()
    thread.join()
    assert answers == [True]


@pytest.mark.parametrize("value", [3, None, test_files_of_the_program])
def test_other_objects_are_neither(value: Any) -> None:
    with pytest.raises(RuntimeError):
        _trace.is_user_code(value)


def test_a_line_has_file_number_and_function(bench: Workbench) -> None:
    def leave(x: torch.Tensor) -> float:
        return float(x.sum())

    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": x * leave(x)}, export_with="jit")
    [said] = [each for each in leapp.diagnostics() if each.code == "LP202"]
    file, _, rest = said.where.rpartition(":")
    line, _, name = rest.partition(" in ")
    assert (file, int(line)) == (__file__, leave.__code__.co_firstlineno + 1)
    assert name.rpartition(".")[2] == "leave"


class Rows(torch.Tensor):
    """A subclass with its own indexing."""

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index)


class Plain(torch.Tensor):
    """A subclass without its own indexing."""


def test_the_sequence_slot_is_restored_after_patching(monkeypatch: pytest.MonkeyPatch) -> None:
    getitem = torch.Tensor.__getitem__
    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, "__getitem__", lambda self, index: getitem(self, index))
        _trace.restore_sequence_slot()
        assert torch.tensor([torch.tensor(1.0), torch.tensor(2.0)]).tolist() == [1, 2]
        plain = torch.tensor(3.0).as_subclass(Plain)
        assert torch.tensor([plain, plain]).tolist() == [3, 3]
        assert torch.arange(3).as_subclass(Rows)[1] == 1
        assert torch.arange(3)[1] == 1
    _trace.restore_sequence_slot()
    assert torch.tensor([torch.tensor(1.0)]).tolist() == [1]
    assert not isinstance(torch.ones(2), Sequence) and length_hint(torch.ones(2)) == 2
