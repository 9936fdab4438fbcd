"""compile_graph: its files, its results and its messages, as the documents define them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Workbench, refused
from test_spec_lifecycle import double

import leapp
from leapp import InferenceManager, TensorSemantics, annotate


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


def test_no_drawing_unless_requested(bench: Workbench) -> None:
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
    assert re.search(r"Graph of node 'squash':\n.*aten::tanh", bench.log(), re.DOTALL)


def quiet_and_verbose(folder: Path, *, at: str) -> tuple[str, str]:
    """Return the console output of a run, without verbose and with verbose at the given place."""
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


def test_log_is_written_with_and_without_verbose(bench: Workbench) -> None:
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


def test_non_traced_node_may_do_anything(bench: Workbench) -> None:
    with bench.trace(non_traced=["sim"]):
        s = annotate.input_tensors("sim", {"x": torch.ones(2)})
        fresh = torch.tensor([float(v) + 1 for v in s.tolist()])
        sim = annotate.output_tensors("sim", {"y": fresh})
        double(sim, "post")
    bench.compile()
    assert bench.yaml()["pipeline"]["data_flow"] == {"sim/y": ["post/x"]}


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
    """The worked example of the API reference, run as a separate script."""
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
    """The first pass decides. If a later one differs, a message names its line."""

    @staticmethod
    def passes(bench: Workbench, capfd: pytest.CaptureFixture[str], **second: Any) -> str:
        with bench.trace():
            for options in ({"export_with": "jit"}, {"export_with": "jit", **second}):
                x = annotate.input_tensors("n", {"x": torch.ones(3)})
                annotate.output_tensors("n", {"y": x * 2}, **options)
        return capfd.readouterr().err

    def test_another_backend(self, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
        said = self.passes(bench, capfd, export_with="onnx")
        assert "exported with 'jit', as in its first pass: export_with='onnx'" in said
        assert "test_spec_compile.py" in said

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
        assert (
            f"{side} '{'x' if side == 'input' else 'y'}' of node 'n' has a different kind" in said
        )
        assert "test_spec_compile.py" in said

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
            with refused("LP109", "'h'"):
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
