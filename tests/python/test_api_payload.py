"""Payloads: flattened to named entries, restored, and refused if their form is wrong."""

from __future__ import annotations

from collections import OrderedDict, UserDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest
import torch
from conftest import refused

from leapp import TensorSemantics, annotate
from leapp._payload import flatten

Pair = namedtuple("Pair", ["left", "right"])


def names(payload: Any) -> list[str]:
    return [name for name, _, _ in flatten("input_tensors", "n", payload).entries]


def there_and_back(payload: dict[str, Any]) -> tuple[Any, ...]:
    flat = flatten("input_tensors", "n", payload)
    return flat.restore([f"<{name}>" for name, _, _ in flat.entries])


X = torch.ones(2)


def test_names_join_with_underscores() -> None:
    assert names({"s": {"pos": X, "lidar": [X, X]}}) == ["s_pos", "s_lidar_0", "s_lidar_1"]


def test_keys_need_not_be_text() -> None:
    assert names({3: {True: X}}) == ["3_True"]


def test_containers_keep_their_class() -> None:
    counted: defaultdict[str, Any] = defaultdict(list, {"k": X})
    (restored,) = there_and_back({"a": [Pair(X, (X,)), OrderedDict(z=X), counted]})
    assert restored == [Pair("<a_0_0>", ("<a_0_1_0>",)), {"z": "<a_1_z>"}, {"k": "<a_2_k>"}]
    assert [type(item) for item in restored] == [Pair, OrderedDict, defaultdict]
    assert restored[2]["new"] == []


class Odd(list[Any]):
    def __init__(self, first: Any, second: Any) -> None:
        super().__init__([first, second])


def test_a_container_that_cannot_be_made_again_is_refused() -> None:
    with refused("LP120", "test_api_payload.py:"):
        names({"a": Odd(X, X)})


def test_the_callers_containers_are_not_written() -> None:
    inner = [X]
    payload = {"a": {"b": inner}}
    there_and_back(payload)
    assert payload["a"]["b"] is inner
    assert inner[0] is X


def test_any_mapping_is_a_dict_of_named_tensors() -> None:
    assert names(UserDict(a=X)) == ["a"]
    assert annotate.input_tensors("n", UserDict(a=X)) is X


def test_other_leaves_are_constants() -> None:
    flat = flatten("input_tensors", "n", {"a": X, "b": {"gain": 3.0, "name": None}})
    assert flat.constants == [("b_gain", 3.0), ("b_name", None)]
    assert flat.restore(["traced"]) == ("traced", {"gain": 3.0, "name": None})


def test_semantics_carry_their_meaning() -> None:
    item = TensorSemantics("q", X, kind="k", element_names=["a", "b"], extra={"unit": "rad"})
    flat = flatten("input_tensors", "n", item)
    assert flat.entries == [("q", X, ("k", [["a", "b"]], None, {"unit": "rad"}))]


BAD_PAYLOADS = [
    (X, "does not accept a bare tensor"),
    (np.ones(2), "does not accept a bare tensor"),
    ([X], "expects either a dict of named tensors.* got list of Tensor. Pass {'name': tensor}"),
    ((X, X), "expects either a dict of named tensors.* got tuple of Tensor"),
    ([], "expects either a dict of named tensors"),
    (None, "expects either a dict of named tensors"),
    ([TensorSemantics("a", X), X], "All items must be TensorSemantics"),
    ({"a": TensorSemantics("a", X)}, "TensorSemantics inside a dict"),
    ({"a": [{"b": TensorSemantics("b", X)}]}, "'a_0_b' is a TensorSemantics inside a dict"),
]


@pytest.mark.parametrize("call", ["input_tensors", "output_tensors", "state_tensors"])
@pytest.mark.parametrize(("payload", "text"), BAD_PAYLOADS)
def test_wrong_forms_raise_even_when_off(call: str, payload: Any, text: str) -> None:
    if call == "state_tensors" and isinstance(payload, dict):
        text = "does not support nested state structures"
    with pytest.raises(TypeError, match=text):
        getattr(annotate, call)("n", payload)


def test_repeated_semantics_raise_even_when_off() -> None:
    twice = [TensorSemantics("a", X), TensorSemantics("a", X), TensorSemantics("b", X)]
    with refused("LP120", "'a'"):
        annotate.input_tensors("n", twice)


@pytest.mark.parametrize(("payload", "text"), [bad for bad in BAD_PAYLOADS if bad[0] is not None])
def test_static_outputs_have_the_same_forms(payload: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        annotate.output_tensors("n", {"y": X}, static_outputs=payload)


def test_off_returns_the_very_objects() -> None:
    payload = {"a": X, "b": {"c": [X]}}
    a, b = annotate.output_tensors("n", payload)
    assert a is X
    assert b is payload["b"]
    assert annotate.register_buffer("n", [X, X]) == (X, X)
    assert annotate.update_state("n", [TensorSemantics("a", X), TensorSemantics("b", X)]) == (X, X)
    assert annotate.mirror_leapp_tags(torch.zeros(2), X) is X
