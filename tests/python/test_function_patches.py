"""Replacing functions of other packages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import leapp._state

leapp._state.load()

from leapp._function_patches import in_node, replaced, wrapped  # noqa: E402


def double(x: int, *, plus: int = 0) -> int:
    """Return twice as much."""
    return 2 * x + plus


def instead(original: Any, *args: Any, **options: Any) -> Any:
    return -original(*args, **options)


def test_a_replacement_is_given_the_original_and_its_arguments() -> None:
    call = wrapped(double, instead)
    assert call(3, plus=1) == -7
    assert call.__name__ == "double" and call.__doc__ == double.__doc__


def test_a_patch_names_its_target_and_is_created_once() -> None:
    owner = SimpleNamespace(double=double, other=abs)
    patched, values = replaced(owner, "double other", instead)
    assert patched is owner
    assert owner.double is double, "a patch is put in place by whoever takes it"
    assert (values["double"](1), values["other"](-2)) == (-2, -2)
    assert replaced(owner, "double", instead)[1]["double"] is values["double"]


def test_without_a_session_no_code_is_inside_a_node() -> None:
    assert not in_node()
