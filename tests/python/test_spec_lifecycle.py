"""start, stop and compile_graph: what the documents say of a session's life."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Workbench
from torch import nn

import leapp
from leapp import InferenceManager, TensorSemantics, annotate


def double(x: torch.Tensor, node: str = "n", **options: Any) -> Any:
    """The smallest node there is."""
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
    assert found == expected | {"golden": 0, "thorough": False}  # what we add comes last
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


def test_start_creates_the_folder_and_the_log(bench: Workbench) -> None:
    with bench.trace("made/by/nobody"[:4]):
        assert bench.path("made").is_dir()
        assert list(bench.path("made").glob("log*"))


def test_missing_parents_of_the_folder_are_made(bench: Workbench) -> None:
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
    with pytest.raises(Exception, match="no active tracing session"):
        leapp.stop()


def test_stop_twice(bench: Workbench) -> None:
    with bench.trace():
        double(torch.ones(2))
    with pytest.raises(Exception, match="no active tracing session"):
        leapp.stop()


def test_stop_inside_a_traced_function(bench: Workbench) -> None:
    @annotate.method(export_with="jit")
    def impatient(x: torch.Tensor) -> torch.Tensor:
        leapp.stop()
        return x * 2

    leapp.start("g", save_path=str(bench.folder))
    with pytest.raises(Exception, match="still executing"):
        impatient(torch.ones(2))


def test_compile_before_stop(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    double(torch.ones(2))
    with pytest.raises(Exception, match=r"Call leapp\.stop\(\) before leapp\.compile_graph\(\)"):
        leapp.compile_graph()


class TestNodeNeverCompleted:
    def test_stop_refuses_and_names_the_line(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("orphan", {"x": torch.ones(2)})
        with pytest.raises(
            leapp.LeappError,
            match=r"test_spec_lifecycle\.py:\d+.*'orphan' was created but never completed",
        ):
            leapp.stop()
        assert leapp.ExportManager().is_interpret_graph_enabled()
        annotate.abandon("orphan")
        leapp.stop()

    def test_a_later_pass_is_dropped(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        leapp.start("g", save_path=str(bench.folder))
        double(torch.ones(2), "n")
        annotate.input_tensors("n", {"x": torch.ones(2)})  # of a step that nobody takes
        leapp.stop()
        assert capfd.readouterr().err == ""
        assert bench.compile() == {"n": True}
        assert "Pass 2 of node 'n' was begun and not completed" in bench.log()

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
        with pytest.raises(Exception, match="'orphan' was created but never completed"):
            bench.compile()


class TestAPassThatAnExceptionLeft:
    @pytest.mark.parametrize("failing", [0, 1])
    def test_the_next_one_begins_anew(
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
        assert f"pass {failing + 1} of node 'n' was begun here before and never completed" in said
        assert "test_spec_lifecycle.py" in said
        assert bench.compile() == {"n": True}
        assert bench.yaml()["pipeline"]["feedback_flow"] == {"n/h": ["n/h"]}

    def test_abandon_says_so_without_a_warning(
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


def test_compile_returns_true_for_each_validated_node(bench: Workbench, backend: str) -> None:
    with bench.trace():
        y = double(torch.ones(2), "a", export_with=backend)
        double(y, "b", export_with=backend)
    assert bench.compile() == {"a": True, "b": True}


def test_compile_without_validation_returns_true(bench: Workbench) -> None:
    with bench.trace():
        double(torch.ones(2))
    assert bench.compile(validate=False) is True


def test_artifacts_of_a_graph(bench: Workbench) -> None:
    with bench.trace():
        y = double(torch.ones(2), "first")
        double(y, "second", export_with="onnx")
    leapp.compile_graph(visualize=True)
    names = {path.name for path in bench.path("g").iterdir()}
    assert {"g.yaml", "g.png", "first.pt", "second.onnx", "log.txt"} <= names
    assert bench.path("g", "g.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_no_drawing_when_not_asked_for(bench: Workbench) -> None:
    with bench.trace():
        double(torch.ones(2))
    leapp.compile_graph(visualize=False)
    assert not bench.path("g", "g.png").exists()


def test_failing_drawing_does_not_stop_compilation(bench: Workbench) -> None:
    with bench.trace():
        double(torch.ones(2))
    bench.path("g", "g.png").mkdir()
    assert leapp.compile_graph(visualize=True) == {"n": True}
    assert bench.path("g", "g.yaml").is_file()


def test_graph_statistics_are_logged(bench: Workbench) -> None:
    with bench.trace():
        a, b = annotate.input_tensors("one", {"a": torch.ones(2), "b": torch.ones(2)})
        (s, d) = annotate.output_tensors("one", {"s": a + b, "d": a - b}, export_with="jit")
        c = annotate.input_tensors("two", {"c": s})
        annotate.output_tensors("two", {"z": c * 3}, export_with="jit")
        del d
    bench.compile()
    log = bench.log()
    for label, count in {
        "Computation nodes": 2,
        "Dangling inputs": 2,
        "Dangling outputs": 2,
        "Internal connections": 1,
        "Total edges": 5,
    }.items():
        assert f"{label}: {count}" in log


def test_log_carries_each_nodes_graph(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("squash", {"x": torch.ones(2)})
        annotate.output_tensors("squash", {"y": torch.tanh(x)}, export_with="jit")
    bench.compile()
    assert "squash" in bench.log()
    assert "tanh" in bench.log()


def quiet_and_verbose(folder: Path, *, at: str) -> tuple[str, str]:
    """What a run shows on its console, without and with verbose at the given place."""
    program = """
import sys, torch, leapp
from leapp import annotate
at, on, folder = sys.argv[1], sys.argv[2] == "True", sys.argv[3]
leapp.start("g", save_path=folder, verbose=on if at == "start" else False)
x = annotate.input_tensors("node_in_question", {"x": torch.ones(2)})
annotate.output_tensors("node_in_question", {"y": x * 2}, export_with="jit")
leapp.stop()
leapp.compile_graph(visualize=False, verbose=on if at == "compile" else None)
"""
    texts = []
    for on in ("False", "True"):
        done = subprocess.run(
            [sys.executable, "-c", program, at, on, str(folder)],
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
        )
        texts.append(done.stdout + done.stderr)
    return texts[0], texts[1]


@pytest.mark.parametrize("at", ["start", "compile"])
def test_verbose_shows_more_on_the_console(tmp_path: Path, at: str) -> None:
    quiet, verbose = quiet_and_verbose(tmp_path, at=at)
    assert "Computation nodes" not in quiet
    assert "Computation nodes" in verbose


def test_log_is_written_whether_verbose_or_not(bench: Workbench) -> None:
    with bench.trace("quiet"):
        double(torch.ones(2))
    bench.compile()
    with bench.trace("loud", verbose=True):
        double(torch.ones(2))
    bench.compile()
    assert "Computation nodes" in bench.log("quiet")
    assert "Computation nodes" in bench.log("loud")


@pytest.mark.parametrize("place", ["start", "compile"])
def test_dry_run_writes_yaml_but_no_models(bench: Workbench, place: str) -> None:
    with bench.trace(dry_run=place == "start"):
        y = double(torch.ones(2), "a")
        double(y, "b")
    bench.compile(dry_run=place == "compile")
    document = bench.yaml()
    assert list(document["models"]) == ["a", "b"]
    assert document["pipeline"]["data_flow"] == {"a/y": ["b/x"]}
    assert not list(bench.path("g").glob("*.pt"))


def test_dry_run_still_draws(bench: Workbench) -> None:
    with bench.trace(dry_run=True):
        double(torch.ones(2))
    leapp.compile_graph(visualize=True)
    assert bench.path("g", "g.png").is_file()


def test_dry_run_validates_nothing_and_succeeds(bench: Workbench) -> None:
    with bench.trace():
        double(torch.ones(2))
    result = bench.compile(dry_run=True)
    assert result is True or result == {"n": True}


@pytest.mark.parametrize("form", ["name", "list"])
def test_non_traced_node_keeps_its_ports_and_wires(bench: Workbench, form: str) -> None:
    with bench.trace(non_traced="sim" if form == "name" else ["sim"]):
        a = double(torch.ones(2), "pre")
        s = annotate.input_tensors("sim", {"x": a})
        sim = annotate.output_tensors("sim", {"y": s * 3}, export_with="jit")
        double(sim, "post")
    assert bench.compile() == {"pre": True, "sim": True, "post": True}
    document = bench.yaml()
    assert list(document["models"]) == ["pre", "sim", "post"]
    assert document["models"]["sim"]["inputs"][0]["shape"] == [2]
    assert document["pipeline"]["data_flow"] == {"pre/y": ["sim/x"], "sim/y": ["post/x"]}
    assert not bench.path("g", "sim.pt").exists()
    assert bench.path("g", "post.pt").exists()


def test_non_traced_node_may_do_what_tracing_cannot_follow(bench: Workbench) -> None:
    with bench.trace(non_traced=["sim"]):
        s = annotate.input_tensors("sim", {"x": torch.ones(2)})
        fresh = torch.tensor([float(v) + 1 for v in s.tolist()])
        sim = annotate.output_tensors("sim", {"y": fresh})
        double(sim, "post")
    bench.compile()
    assert bench.yaml()["pipeline"]["data_flow"] == {"sim/y": ["post/x"]}


def test_restart_drops_what_was_traced(bench: Workbench) -> None:
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


WORKED_EXAMPLE = """
import torch
import torch.nn as nn
import leapp
from leapp import annotate

class SimpleNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(10, 5)
    def forward(self, x):
        return self.linear(x)

model = SimpleNet()
model.eval()

@annotate.method(export_with="jit", node_name="preprocess")
def preprocess(raw_data):
    normalized = (raw_data - raw_data.mean()) / (raw_data.std() + 1e-6)
    return normalized

def main():
    leapp.start(name="complete_pipeline", save_path="./exports", verbose=True)
    raw_input = torch.randn(1, 10)
    preprocessed = preprocess(raw_input)
    pred_traced = annotate.input_tensors("inference", {"features": preprocessed})
    predictions = model(pred_traced)
    annotate.output_tensors("inference", {"predictions": predictions}, export_with="jit")
    pred_traced = annotate.input_tensors("postprocess", {"predictions": predictions})
    probabilities = torch.softmax(pred_traced, dim=1)
    final_output = torch.argmax(probabilities, dim=1)
    annotate.output_tensors("postprocess", {"final_output": final_output}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=True)
    torch.save([raw_input, final_output], "example.pt")

main()
"""


@pytest.fixture(scope="module")
def worked_example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The worked example of the API reference, run as a script of its own."""
    folder = tmp_path_factory.mktemp("worked")
    script = folder / "example.py"
    script.write_text(WORKED_EXAMPLE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    subprocess.run([sys.executable, str(script)], check=True, cwd=folder, env=environment)
    return folder / "exports" / "complete_pipeline"


class TestWorkedExample:
    @pytest.mark.parametrize(
        "name",
        [
            "complete_pipeline.yaml",
            "complete_pipeline.png",
            "preprocess.pt",
            "inference.pt",
            "postprocess.pt",
            "log.txt",
        ],
    )
    def test_file(self, worked_example: Path, name: str) -> None:
        assert (worked_example / name).is_file()

    def test_wiring(self, worked_example: Path) -> None:
        import yaml

        document = yaml.safe_load((worked_example / "complete_pipeline.yaml").read_text())
        assert list(document["models"]) == ["preprocess", "inference", "postprocess"]
        pipeline = document["pipeline"]
        assert pipeline["data_flow"] == {
            "preprocess/normalized": ["inference/features"],
            "inference/predictions": ["postprocess/predictions"],
        }
        assert pipeline["inputs"] == {"preprocess": ["raw_data"]}
        assert pipeline["outputs"] == {"postprocess": ["final_output"]}
        assert not pipeline.get("feedback_flow")
        port = document["models"]["postprocess"]["outputs"][0]
        assert (port["name"], port["dtype"], port["shape"]) == ("final_output", "int64", [1])

    def test_it_runs(self, worked_example: Path) -> None:
        raw, final = torch.load(worked_example.parent.parent / "example.pt")
        manager = InferenceManager(str(worked_example / "complete_pipeline.yaml"))
        outputs = manager.run_policy({"preprocess/raw_data": raw})
        assert torch.equal(outputs["postprocess/final_output"], final)

    def test_models_run_without_leapp(self, worked_example: Path) -> None:
        module = torch.jit.load(str(worked_example / "preprocess.pt"))
        x = torch.randn(1, 10)
        result = module(x)
        result = result[0] if isinstance(result, (tuple, list)) else result
        torch.testing.assert_close(result, (x - x.mean()) / (x.std() + 1e-6))


class TestLaterPasses:
    """The first pass decides; what a later one says otherwise is pointed out with its line."""

    @staticmethod
    def passes(bench: Workbench, capfd: pytest.CaptureFixture[str], **second: Any) -> str:
        with bench.trace():
            for options in ({"export_with": "jit"}, {"export_with": "jit", **second}):
                x = annotate.input_tensors("n", {"x": torch.ones(3)})
                annotate.output_tensors("n", {"y": x * 2}, **options)
        return capfd.readouterr().err

    def test_another_backend(self, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
        said = self.passes(bench, capfd, export_with="onnx")
        assert "exported with 'jit', as its first pass said: export_with='onnx'" in said
        assert "test_spec_lifecycle.py" in said

    def test_other_parameters(self, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
        said = self.passes(bench, capfd, backend_params={"optimize": True})
        assert "the backend_params of node 'n' are those of its first pass" in said

    def test_the_same_again(self, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
        assert self.passes(bench, capfd) == ""

    @pytest.mark.parametrize("side", ["input", "output"])
    def test_another_kind(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str], side: str
    ) -> None:
        with bench.trace():
            for kind in ("a", "b"):
                into = TensorSemantics("x", torch.ones(3), kind=kind if side == "input" else None)
                x = annotate.input_tensors("n", into)
                out = TensorSemantics("y", x * 2, kind=kind if side == "output" else None)
                annotate.output_tensors("n", out, export_with="jit")
        said = capfd.readouterr().err
        assert f"{side} '{'x' if side == 'input' else 'y'}' of node 'n' has another kind" in said
        assert "test_spec_lifecycle.py" in said

    @pytest.mark.parametrize("first", [True, False])
    def test_state_updated_in_one_pass_only(self, bench: Workbench, first: bool) -> None:
        def one_pass(update: bool) -> None:
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            h = annotate.state_tensors("n", {"h": torch.zeros(3)})
            if update:
                annotate.update_state("n", {"h": h + x})
            annotate.output_tensors("n", {"y": x + h}, export_with="jit")

        with bench.trace():
            one_pass(first)
            with pytest.raises(Exception, match=r"Reentering n with new i/o: state 'h' .*updated"):
                one_pass(not first)


class TestNonTraced:
    def test_unknown_names_are_pointed_out(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with bench.trace(non_traced=["camera"]):
            x = annotate.input_tensors("kamera", {"x": torch.ones(3)})
            annotate.output_tensors("kamera", {"y": x * 2}, export_with="jit")
        bench.compile()
        assert "names 'camera', but there was no such node; there were: 'kamera'" in (
            capfd.readouterr().err
        )

    def test_state_and_feedback_keep_their_first_values(self, bench: Workbench) -> None:
        memory = torch.full((3,), 4.0)
        with bench.trace(non_traced="camera"):
            for _ in range(2):
                x, _ = annotate.input_tensors("camera", {"x": torch.ones(3), "memory": memory})
                h = annotate.state_tensors("camera", {"h": torch.full((3,), 5.0)})
                annotate.update_state("camera", {"h": h + x})
                y = annotate.output_tensors("camera", {"y": x * 2})
                y = annotate.input_tensors("policy", {"y": y})
                memory = annotate.output_tensors("policy", {"z": y + 1}, export_with="jit")
        bench.compile()
        assert bench.yaml()["pipeline"]["feedback_flow"] == {
            "camera/h": ["camera/h"],
            "policy/z": ["camera/memory"],
        }
        manager = bench.manager()
        assert manager.value_dict["camera"]["memory"].tolist() == [4.0] * 3
        assert manager.value_dict["camera"]["h"].tolist() == [5.0] * 3
