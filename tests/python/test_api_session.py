"""Sessions: the manager object, compiled functions, the user's lines, modules."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from typing import Any

import pytest
import torch
from conftest import Workbench, refused
from torch import nn

import leapp
from leapp import ExportManager, annotate


def line_of(marker: str) -> int:
    """The number of the line in this file that ends with the marker."""
    with open(__file__) as source:
        return next(i for i, line in enumerate(source, 1) if line.rstrip().endswith(f"# {marker}"))


class TestExportManager:
    def test_there_is_one(self) -> None:
        assert ExportManager() is ExportManager()

    def test_it_has_the_annotate_calls(self, bench: Workbench) -> None:
        manager = ExportManager()
        manager.start("g", save_path=str(bench.folder))
        assert manager.is_interpret_graph_enabled()
        x = manager.input_tensors("n", {"x": torch.ones(2)})
        manager.output_tensors("n", {"y": x * 2}, export_with="jit")
        manager.stop()
        assert not manager.is_interpret_graph_enabled()
        assert manager.compile_graph(visualize=False) == {"n": True}
        assert manager.get_graph_name() == "g"
        assert manager.get_save_path() == str(bench.path("g"))


class TestLines:
    """Warnings and errors name the user's line, even if the operator is deep inside a library."""

    @pytest.fixture
    def warning(self, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> Any:
        def run(use: Any) -> str:
            with bench.trace():
                x = annotate.input_tensors("n", {"x": torch.ones(2)})
                use(x)
                annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
            return capfd.readouterr().err

        return run

    @pytest.fixture
    def export_warning(self, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> Any:
        def run(use: Any) -> str:
            with bench.trace():
                x = annotate.input_tensors("n", {"x": torch.ones(2)})
                annotate.output_tensors("n", {"y": use(x)}, export_with="jit")
            bench.compile()
            return capfd.readouterr().err

        return run

    def test_direct(self, warning: Any) -> None:
        def use(x: torch.Tensor) -> None:
            x.sum().item()  # direct

        assert f"{__file__}:{line_of('direct')} in " in warning(use)

    def test_through_a_module_and_a_decorator(self, warning: Any) -> None:
        class Net(nn.Module):
            @torch.no_grad()
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x * float(x.sum())  # module

        assert f"{__file__}:{line_of('module')} in " in warning(nn.Sequential(nn.ReLU(), Net()))

    def test_operators_inside_a_library_belong_to_the_call(self, export_warning: Any) -> None:
        def use(x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.dropout(x, 0.5)  # library

        assert f"{__file__}:{line_of('library')} in " in export_warning(use)

    def test_generated_code_is_passed_over(self, warning: Any) -> None:
        graph = torch.fx.symbolic_trace(lambda x: x.sum().item())

        def use(x: torch.Tensor) -> None:
            graph(x)  # generated

        assert f"{__file__}:{line_of('generated')} in " in warning(use)

    def test_another_thread(self, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
        def work() -> None:
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * x.sum().item()}, export_with="jit")  # thread

        with bench.trace():
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        assert f"{__file__}:{line_of('thread')} in " in capfd.readouterr().err


class TestCompiledFunctions:
    def test_they_run_eagerly_while_tracing(self, bench: Workbench) -> None:
        pytest.importorskip("torch._dynamo")

        @torch.compile(backend="eager")
        def f(x: torch.Tensor) -> torch.Tensor:
            return torch.tanh(x) * 2

        f(torch.ones(3))
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            annotate.output_tensors("n", {"y": f(x)}, export_with="jit")
        assert bench.compile() == {"n": True}
        fresh = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], torch.tanh(fresh) * 2)
        torch.testing.assert_close(f(fresh), torch.tanh(fresh) * 2)


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("scale", torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count = self.count + 1
        result: torch.Tensor = x * self.count * self.scale
        return result


class TestModule:
    def test_buffers_are_named_in_the_error(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"x": torch.ones(2)})
        with refused("LP003", "'h'", "'count'", "'scale'"):
            annotate.module("n", Counter(), ["h"])

    def test_the_module_itself_is_not_touched(self, bench: Workbench) -> None:
        model = Counter()
        before = dict(model.named_buffers())
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.module("n", model)
            assert all(getattr(model, name) is buffer for name, buffer in before.items())
            annotate.output_tensors("n", {"y": model(x)}, export_with="jit")
        assert bench.compile() == {"n": True}

    def test_missing_buffer(self, bench: Workbench) -> None:
        model = Counter()
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.module("n", model)
        del model.count
        with refused("LP007", "'count'"):
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")


def test_interpreter_may_end_in_the_middle_of_a_session(bench: Workbench) -> None:
    program = (
        "import leapp, torch\n"
        f"leapp.start('g', save_path={str(bench.folder)!r}, verbose=True)\n"
        "x = leapp.annotate.input_tensors('n', {'x': torch.ones(2)})\n"
        "y = x * 2\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not re.search("Traceback|Fatal|Segmentation", done.stderr)
