"""start, stop and compile_graph: the life cycle of a session, as the documents define it."""

from __future__ import annotations

import contextlib
import inspect
import logging
from typing import Any

import pytest
import torch
from conftest import Workbench, refused
from torch import nn

import leapp
from leapp import annotate


def double(x: torch.Tensor, node: str = "n", **options: Any) -> Any:
    """Run the smallest possible node."""
    traced = annotate.input_tensors(node, {"x": x})
    return annotate.output_tensors(node, {"y": traced * 2}, **{"export_with": "jit", **options})


def parameters(function: Any) -> dict[str, Any]:
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }


def test_start_has_the_documented_parameters_and_defaults() -> None:
    expected = {
        "name": inspect.Parameter.empty,
        "save_path": ".",
        "verbose": False,
        "dry_run": False,
        "non_traced": None,
        "max_cached_io": 5,
        "global_patching": True,
        "patching": None,
        "schedule": None,
        "noise": "port",
    }
    assert parameters(leapp.start) == expected
    assert list(parameters(leapp.start)) == list(expected)


def test_compile_graph_has_the_documented_parameters_and_defaults() -> None:
    expected = {
        "visualize": True,
        "verbose": None,
        "validate": True,
        "dry_run": False,
        "rtol": 1e-3,
        "atol": 1e-5,
        "strict": True,
        "graph_configs": None,
    }
    found = parameters(leapp.compile_graph)
    added = {
        "golden": 0,
        "thorough": False,
        "strict_constants": False,
        "rerun": (),
        "cancelled": None,
    }
    assert found == expected | added  # our additions come last
    assert list(found)[: len(expected)] == list(expected)


def test_stop_takes_nothing() -> None:
    assert parameters(leapp.stop) == {}


@pytest.mark.parametrize(
    "name",
    """start stop compile_graph annotate InferenceManager ExportManager TensorSemantics TemporalAxis
    GraphConfigs FunctionPatch InputKindEnum OutputKindEnum __version__""".split(),
)
def test_public_name(name: str) -> None:
    assert hasattr(leapp, name)


@pytest.mark.parametrize(
    "name",
    """input_tensors output_tensors method state_tensors update_state register_buffer module
    mirror_leapp_tags""".split(),
)
def test_annotate_call(name: str) -> None:
    assert callable(getattr(annotate, name))


@pytest.mark.parametrize(
    ("call", "leading"),
    [
        ("input_tensors", ["node_name", "tensors"]),
        ("output_tensors", ["node_name", "tensors", "static_outputs"]),
        ("state_tensors", ["node_name", "tensors"]),
        ("update_state", ["node_name", "tensors"]),
        ("register_buffer", ["node_name"]),
        ("module", ["node_name", "model", "buffer_names"]),
        ("mirror_leapp_tags", ["source", "target"]),
    ],
)
def test_annotate_signature(call: str, leading: list[str]) -> None:
    names = list(inspect.signature(getattr(annotate, call)).parameters)
    assert names[: len(leading)] == leading


def test_start_creates_the_directory_and_the_log(bench: Workbench) -> None:
    with bench.trace("made/by/nobody"[:4]):
        assert bench.path("made").is_dir()
        assert list(bench.path("made").glob("log*"))


def test_missing_parents_of_the_directory_are_created(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.path("a", "b")))
    double(torch.ones(2))
    leapp.stop()
    bench.compile()
    assert bench.path("a", "b", "g", "g.yaml").is_file()


def test_default_save_path_is_the_working_directory(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench.folder)
    leapp.start("here")
    double(torch.ones(2))
    leapp.stop()
    bench.compile()
    assert bench.path("here", "here.yaml").is_file()


def test_name_may_be_a_relative_path(bench: Workbench) -> None:
    leapp.start("robots/walker", save_path=str(bench.folder))
    double(torch.ones(2))
    leapp.stop()
    bench.compile()
    assert bench.path("robots", "walker", "walker.yaml").is_file()


def test_absolute_name_overrides_save_path(bench: Workbench) -> None:
    leapp.start(str(bench.path("abs", "walker")), save_path="/nowhere/at/all")
    double(torch.ones(2))
    leapp.stop()
    bench.compile()
    assert bench.path("abs", "walker", "walker.yaml").is_file()


def test_tilde_in_name_expands(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(bench.folder))
    leapp.start("~/walker")
    double(torch.ones(2))
    leapp.stop()
    bench.compile()
    assert bench.path("walker", "walker.yaml").is_file()


def test_save_path_may_be_a_path_object(bench: Workbench) -> None:
    leapp.start("g", save_path=bench.folder)  # type: ignore[arg-type]
    double(torch.ones(2))
    leapp.stop()
    bench.compile()
    assert bench.path("g", "g.yaml").is_file()


def test_start_needs_a_name() -> None:
    with pytest.raises(TypeError):
        leapp.start()  # type: ignore[call-arg]


def test_start_rejects_unknown_arguments(bench: Workbench) -> None:
    with pytest.raises(TypeError):
        leapp.start("g", save_path=str(bench.folder), colour="blue")  # type: ignore[call-arg]


def test_compile_graph_rejects_unknown_arguments() -> None:
    with pytest.raises(TypeError):
        leapp.compile_graph(colour="blue")  # type: ignore[call-arg]


def test_stop_without_start() -> None:
    with refused("LP101"):
        leapp.stop()


def test_stop_twice(bench: Workbench) -> None:
    with bench.trace():
        double(torch.ones(2))
    with refused("LP101"):
        leapp.stop()


def test_stop_inside_a_traced_function(bench: Workbench) -> None:
    @annotate.method(export_with="jit")
    def impatient(x: torch.Tensor) -> torch.Tensor:
        leapp.stop()
        return x * 2

    leapp.start("g", save_path=str(bench.folder))
    with refused("LP103"):
        impatient(torch.ones(2))


def test_compile_before_stop(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    double(torch.ones(2))
    with refused("LP102"):
        leapp.compile_graph()


class TestNodeNeverCompleted:
    def test_stop_refuses_and_names_the_line(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("orphan", {"x": torch.ones(2)})
        with refused("LP107", "'orphan'", "test_spec_lifecycle.py:"):
            leapp.stop()
        assert leapp.ExportManager().is_interpret_graph_enabled()
        annotate.abandon("orphan")
        leapp.stop()

    def test_a_later_pass_is_dropped(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        leapp.start("g", save_path=str(bench.folder))
        double(torch.ones(2), "n")
        annotate.input_tensors("n", {"x": torch.ones(2)})  # of a step that does not occur
        leapp.stop()
        assert capfd.readouterr().err == ""
        assert bench.compile() == {"n": True}
        assert "Pass 2 of node 'n' was begun but not completed" in bench.log()

    def test_stop_on_the_way_of_an_exception_drops_the_pass(self, bench: Workbench) -> None:
        with pytest.raises(KeyError, match="the program's own"):
            leapp.start("g", save_path=str(bench.folder))
            try:
                annotate.input_tensors("n", {"x": torch.ones(2)})
                raise KeyError("the program's own")
            finally:
                leapp.stop()
        assert not leapp.ExportManager().is_interpret_graph_enabled()

    def test_a_node_whose_passes_were_all_abandoned(self, bench: Workbench) -> None:
        with bench.trace():
            annotate.input_tensors("orphan", {"x": torch.ones(2)})
            annotate.abandon("orphan")
        with refused("LP107", "'orphan'"):
            bench.compile()


class TestAPassThatAnExceptionLeft:
    @pytest.mark.parametrize("failing", [0, 1])
    def test_the_next_one_starts_again(
        self, bench: Workbench, failing: int, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with bench.trace():
            for i in range(3):
                with contextlib.suppress(ZeroDivisionError):
                    x = annotate.input_tensors("n", {"x": torch.randn(2)})
                    h = annotate.state_tensors("n", {"h": torch.zeros(2)})
                    if i == failing:
                        raise ZeroDivisionError
                    annotate.update_state("n", {"h": h + x})
                    annotate.output_tensors("n", {"y": x + h}, export_with="jit")
        said = capfd.readouterr().err
        assert f"pass {failing + 1} of node 'n' was begun here but not completed" in said
        assert "test_spec_lifecycle.py" in said
        assert bench.compile() == {"n": True}
        assert bench.yaml()["pipeline"]["feedback_flow"] == {"n/h": ["n/h"]}

    def test_abandon_gives_no_warning(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with bench.trace():
            for i in range(3):
                x = annotate.input_tensors("n", {"x": torch.randn(2)})
                if i == 1:
                    annotate.abandon("n")
                    annotate.abandon("n")
                    continue
                annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        assert bench.compile() == {"n": True}
        assert capfd.readouterr().err == ""

    def test_abandon_outside_of_a_session_does_nothing(self) -> None:
        annotate.abandon("n")


def test_restart_drops_the_trace(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    double(torch.ones(2), "old")
    leapp.start("g", save_path=str(bench.folder))
    double(torch.ones(2), "new")
    leapp.stop()
    bench.compile()
    assert list(bench.yaml()["models"]) == ["new"]


def test_restart_warns(bench: Workbench, capfd: pytest.CaptureFixture[str], caplog: Any) -> None:
    with caplog.at_level(logging.WARNING):
        leapp.start("g", save_path=str(bench.folder))
        leapp.start("g", save_path=str(bench.folder))
    leapp.stop()
    shown = capfd.readouterr()
    everything = (bench.log() + shown.out + shown.err + caplog.text).lower()
    assert "reset" in everything or "already active" in everything or "restart" in everything


def test_sessions_one_after_another_are_independent(bench: Workbench) -> None:
    for name in ("one", "two"):
        with bench.trace(name):
            double(torch.ones(2), f"node_{name}")
        bench.compile()
    assert list(bench.yaml("one")["models"]) == ["node_one"]
    assert list(bench.yaml("two")["models"]) == ["node_two"]


def test_exporting_again_replaces_the_bundle(bench: Workbench) -> None:
    for node in ("old", "new"):
        with bench.trace():
            double(torch.ones(2), node)
        bench.compile()
    assert list(bench.yaml()["models"]) == ["new"]
    bench.manager().run_policy({"new/x": torch.ones(2)})


class TestOff:
    """Outside start/stop the annotations do nothing."""

    def test_input_tensors_returns_its_argument(self) -> None:
        x = torch.ones(2)
        assert annotate.input_tensors("n", {"x": x}) is x

    def test_input_tensors_returns_a_tuple_for_many(self) -> None:
        x, y = torch.ones(2), torch.ones(3)
        result = annotate.input_tensors("n", {"x": x, "y": y})
        assert isinstance(result, tuple)
        assert result[0] is x
        assert result[1] is y

    def test_nested_values_come_back_as_they_are(self) -> None:
        state = {"pos": torch.ones(2), "lidar": [torch.ones(3), torch.ones(4)]}
        result = annotate.input_tensors("n", {"s": state})
        assert result["pos"] is state["pos"]
        assert result["lidar"][1] is state["lidar"][1]

    def test_output_tensors_returns_its_argument(self) -> None:
        x = torch.ones(2)
        assert annotate.output_tensors("n", {"x": x}, export_with="jit") is x

    def test_state_calls_return_their_argument(self) -> None:
        h = torch.ones(2)
        assert annotate.state_tensors("n", {"h": h}) is h
        assert annotate.update_state("n", {"h": h}) is h

    def test_semantics_are_unwrapped(self) -> None:
        x = torch.ones(2)
        assert annotate.input_tensors("n", leapp.TensorSemantics(name="x", ref=x)) is x

    def test_register_buffer_returns_its_argument(self) -> None:
        b = torch.ones(2)
        assert annotate.register_buffer("n", b) is b

    def test_module_leaves_the_module_alone(self) -> None:
        model = nn.BatchNorm1d(2)
        before = dict(model.named_buffers())
        annotate.module("n", model)
        assert all(model.get_buffer(name) is buffer for name, buffer in before.items())

    def test_mirror_leapp_tags_does_nothing(self) -> None:
        annotate.mirror_leapp_tags(torch.ones(2), torch.ones(2))

    def test_method_runs_plainly(self) -> None:
        @annotate.method(export_with="jit")
        def plain(x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
            return x * scale

        assert torch.equal(plain(torch.ones(2)), torch.full((2,), 2.0))
        assert torch.equal(plain(torch.ones(2), scale=3.0), torch.full((2,), 3.0))

    @pytest.mark.parametrize("payload", [torch.ones(2), [torch.ones(2)], 3])
    def test_wrong_payload_still_raises(self, payload: Any) -> None:
        with pytest.raises(TypeError):
            annotate.input_tensors("n", payload)

    def test_numpy_arrays_come_back(self) -> None:
        x = torch.ones(2).numpy()
        assert annotate.input_tensors("n", {"x": x}) is x

    def test_after_stop_nothing_is_traced(self, bench: Workbench) -> None:
        with bench.trace():
            double(torch.ones(2))
        x = torch.ones(3)
        assert annotate.input_tensors("late", {"x": x}) is x
        bench.compile()
        assert list(bench.yaml()["models"]) == ["n"]
