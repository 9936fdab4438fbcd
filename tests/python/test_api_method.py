"""annotate.method: decorated objects, names of outputs, and the state after an exception."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import annotate
from leapp._source import shown_returns


class Limits(NamedTuple):
    low: torch.Tensor
    high: torch.Tensor


def several(x: Any, flag: bool) -> Any:
    def inner() -> Any:
        return flag

    if flag:
        return x
    last = inner()
    return last


def two(x: Any) -> Any:
    y = x
    return x, y, x + y


def starred(x: Any) -> Any:
    return (*x, x)


def nothing(x: Any) -> None:
    print(x)
    return


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (several, {None: ["last"]}),
        (two, {3: ["x", "y", None]}),
        (starred, {}),
        (nothing, {}),
        (lambda x: x, {}),
        (torch.sin, {}),
        (torch.no_grad()(two), {3: ["x", "y", None]}),
    ],
)
def test_returns_shown_by_the_source(function: Callable[..., Any], shown: dict[Any, Any]) -> None:
    assert shown_returns(function) == shown


def outputs(bench: Workbench, function: Callable[..., Any], *args: Any) -> list[str]:
    """Return the names of the outputs of a function's node."""
    with bench.trace(dry_run=True):
        annotate.method(export_with="jit", node_name="n")(function)(*args)
    bench.compile()
    return [port["name"] for port in bench.yaml()["models"]["n"]["outputs"]]


def test_last_return_of_the_right_length_names(bench: Workbench) -> None:
    def f(x: torch.Tensor) -> Any:
        if x.ndim == 7:
            return x
        a = x + 1
        b = x + 2
        return a, b

    assert outputs(bench, f, torch.ones(2)) == ["a", "b"]


def test_one_variable_twice_is_numbered(bench: Workbench) -> None:
    def f(x: torch.Tensor) -> Any:
        y = x + 1
        return y, y

    assert outputs(bench, f, torch.ones(2)) == ["y", "output2"]


def test_tuple_in_a_variable_is_numbered(bench: Workbench) -> None:
    def f(x: torch.Tensor) -> Any:
        both = (x + 1, x + 2)
        return both

    assert outputs(bench, f, torch.ones(2)) == ["output1", "output2"]


def test_named_tuple_names_its_fields_and_comes_back(bench: Workbench) -> None:
    @annotate.method(export_with="jit")
    def f(x: torch.Tensor) -> Limits:
        return Limits(x - 1, x + 1)

    with bench.trace(dry_run=True):
        assert isinstance(f(torch.ones(2)), Limits)
    bench.compile()
    ports = bench.yaml()["models"]["f"]["outputs"]
    assert [port["name"] for port in ports] == ["low", "high"]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: [x + 1, x + 2], ["output1_0", "output1_1"]),
        (lambda x: {"u": x + 1, "v": {"w": x + 2}}, ["output1_u", "output1_v_w"]),
        (lambda x: (x + 1, 5), ["output1"]),
    ],
)
def test_containers_and_constants(
    bench: Workbench, function: Callable[..., Any], expected: list[str]
) -> None:
    assert outputs(bench, function, torch.ones(2)) == expected


def test_without_parentheses(bench: Workbench) -> None:
    @annotate.method
    def f(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    with bench.trace():
        f(torch.ones(2))
    bench.compile()
    assert bench.yaml()["models"]["f"]["parameters"]["backend"] is None


def test_static_and_class_methods_in_either_order(bench: Workbench) -> None:
    class Robot:
        gain = 3.0

        @staticmethod
        @annotate.method(export_with="jit")
        def inner_static(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @annotate.method(export_with="jit")
        @staticmethod
        def outer_static(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @classmethod
        @annotate.method(export_with="jit")
        def inner_class(cls, x: torch.Tensor) -> torch.Tensor:
            return x * cls.gain

        @annotate.method(export_with="jit")
        @classmethod
        def outer_class(cls, x: torch.Tensor) -> torch.Tensor:
            return x * cls.gain

    with bench.trace(dry_run=True):
        for name in ("inner_static", "outer_static", "inner_class", "outer_class"):
            getattr(Robot(), name)(torch.ones(2))
    bench.compile()
    models = bench.yaml()["models"]
    assert [[p["name"] for p in m["inputs"]] for m in models.values()] == [["x"]] * 4


def test_async_functions_and_generators_are_refused_when_they_are_traced(bench: Workbench) -> None:
    @annotate.method(export_with="jit")
    async def later(x: torch.Tensor) -> torch.Tensor:
        return x

    @annotate.method(export_with="jit")
    def many(x: torch.Tensor) -> Iterator[torch.Tensor]:
        yield x

    assert list(many(torch.ones(2)))  # outside of a session they are unchanged
    with bench.trace():
        with refused("LP002"):
            later(torch.ones(2))
        with refused("LP002"):
            many(torch.ones(2))


def test_returning_none_is_an_error(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    with refused("LP113"):
        annotate.method(export_with="jit")(nothing)(torch.ones(2))


@pytest.mark.parametrize("first", [True, False])
def test_exception_leaves_the_node_ready_for_another_try(bench: Workbench, first: bool) -> None:
    fail = False

    @annotate.method(export_with="jit")
    def f(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        if fail:
            raise KeyError("not now")
        return y * 2

    with bench.trace():
        if not first:
            f(torch.ones(2))
        fail = True
        with pytest.raises(KeyError):
            f(torch.ones(2))
        fail = False
        assert torch.equal(f(torch.zeros(2)), torch.full((2,), 2.0))
    assert bench.compile() == {"f": True}
    result = bench.manager()({"f/x": torch.ones(2)})
    assert torch.equal(result["f/output1"], torch.full((2,), 4.0))


def test_keyword_order_does_not_matter(bench: Workbench) -> None:
    @annotate.method(export_with="jit")
    def f(a: torch.Tensor, b: torch.Tensor, **more: torch.Tensor) -> torch.Tensor:
        return a + b + more["c"]

    with bench.trace():
        f(c=torch.ones(2), b=torch.ones(2), a=torch.ones(2))
        f(torch.ones(2), torch.ones(2), c=torch.ones(2))
    assert bench.compile() == {"f": True}
    assert [p["name"] for p in bench.yaml()["models"]["f"]["inputs"]] == ["a", "b", "c"]


def test_the_callers_arguments_are_not_written(bench: Workbench) -> None:
    @annotate.method(export_with="jit")
    def f(obs: dict[str, torch.Tensor]) -> torch.Tensor:
        obs["mine"] = obs["x"] * 2
        return obs["mine"]

    observation = {"x": torch.ones(2)}
    with bench.trace():
        f(observation)
    assert list(observation) == ["x"]


class _Unusual:
    """Calls its instance something else, as Python lets one do."""

    gain = 2.0

    @annotate.method(node_name="unusual", export_with="jit")
    def step(me, x: torch.Tensor) -> torch.Tensor:
        return x * me.gain


def test_an_instance_with_another_name_is_not_an_input(
    bench: Workbench, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench.trace():
        _Unusual().step(torch.ones(3))
    bench.compile()
    assert "WARNING" not in capfd.readouterr().err
    assert list(bench.manager().inputs) == ["unusual/x"]
