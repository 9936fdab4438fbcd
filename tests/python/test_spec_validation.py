"""compile_graph(validate=True): the comparison, the report and the errors."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import LeappValidationError, annotate


class Wrong:
    """Three nodes; ``bad`` reads a Python number that changes, so only sample 0 is right."""

    def __init__(self, bench: Workbench, passes: int = 3, **options: Any) -> None:
        with bench.trace(**options):
            for tick in range(passes):
                for node in ("good", "bad", "fine"):
                    x = annotate.input_tensors(node, {"x": torch.linspace(0, 1, 200)})
                    offset = torch.full((200,), float(tick) if node == "bad" else 0.0)
                    annotate.output_tensors(node, {"y": x + offset}, export_with="jit")


class TestResult:
    def test_all_right(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            for _ in range(3):
                x = annotate.input_tensors("n", {"x": torch.randn(4)})
                annotate.output_tensors("n", {"y": torch.tanh(x)}, export_with=backend)
        assert bench.compile() == {"n": True}

    def test_strict_raises_with_the_names(self, bench: Workbench) -> None:
        Wrong(bench)
        with pytest.raises(LeappValidationError) as caught:
            bench.compile()
        assert "Model validation failed for 1 node(s): bad." in str(caught.value)

    def test_not_strict_returns_the_verdicts(self, bench: Workbench) -> None:
        Wrong(bench)
        result = bench.compile(strict=False)
        assert list(result) == ["good", "bad", "fine"]
        assert result["good"] is True
        assert result["bad"] is False
        assert result["fine"] is True

    def test_strict_is_the_default(self, bench: Workbench) -> None:
        Wrong(bench)
        with refused("LP409"):
            leapp.compile_graph(visualize=False)

    def test_no_validation(self, bench: Workbench) -> None:
        Wrong(bench)
        assert bench.compile(validate=False) is True

    def test_tolerances_are_used(self, bench: Workbench) -> None:
        Wrong(bench)
        assert bench.compile(atol=10.0)["bad"] is True

    def test_rtol_is_used(self, bench: Workbench) -> None:
        with bench.trace():
            for tick in range(2):
                x = annotate.input_tensors("n", {"x": torch.full((3,), 100.0)})
                annotate.output_tensors(
                    "n", {"y": x + torch.full((3,), tick * 1.0)}, export_with="jit"
                )
        assert bench.compile(strict=False)["n"] is False
        with bench.trace():
            for tick in range(2):
                x = annotate.input_tensors("n", {"x": torch.full((3,), 100.0)})
                annotate.output_tensors(
                    "n", {"y": x + torch.full((3,), tick * 1.0)}, export_with="jit"
                )
        assert bench.compile(strict=False, rtol=0.1)["n"] is True

    def test_node_without_model_counts_as_right(self, bench: Workbench) -> None:
        with bench.trace(non_traced=["n"]):
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 2})
        assert bench.compile() == {"n": True}

    def test_bundle_is_written_although_validation_failed(self, bench: Workbench) -> None:
        Wrong(bench)
        bench.compile(strict=False)
        assert bench.path("g", "g.yaml").is_file()
        assert bench.path("g", "bad.pt").is_file()

    def test_integer_and_bool_outputs(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            for _ in range(2):
                x = annotate.input_tensors("n", {"x": torch.randn(5)})
                annotate.output_tensors(
                    "n", {"i": torch.argsort(x), "b": x > 0, "m": x.argmax()}, export_with=backend
                )
        assert bench.compile() == {"n": True}


class TestReport:
    @pytest.fixture
    def log(self, bench: Workbench) -> str:
        Wrong(bench)
        bench.compile(strict=False)
        return bench.log()

    def test_node_output_and_sample(self, log: str) -> None:
        assert re.search(r"bad/y.*sample 1", log)
        assert re.search(r"bad/y.*sample 2", log)
        assert not re.search(r"(good|fine)/y.*sample", log)

    def test_tolerances(self, log: str) -> None:
        assert "rtol=0.001" in log
        assert re.search(r"atol=1e-0?5", log)

    @pytest.mark.parametrize("word", ["shape", "dtype", "range"])
    def test_shape_dtype_range(self, log: str, word: str) -> None:
        report = log[log.index("bad/y") :]
        assert word in report.lower()

    @pytest.mark.parametrize("word", ["max", "mean", "p50", "p75", "p90", "p99", "p995"])
    def test_statistics(self, log: str, word: str) -> None:
        assert re.search(rf"{word}=", log[log.index("bad/y") :])

    def test_values_of_the_statistics(self, log: str) -> None:
        report = log[log.index("bad/y") :]
        for word in ("max", "mean", "p50", "p995"):
            found = re.search(rf"{word}=([-+.\de]+)", report)
            assert found
            assert float(found.group(1).rstrip(",")) == pytest.approx(1.0, rel=1e-4)

    def test_log_path(self, bench: Workbench, log: str) -> None:
        assert str(bench.path("g")) in log

    def test_hint_at_a_baked_constant(self, log: str) -> None:
        assert re.search(r"bad: .*constant", log)

    def test_summary(self, log: str) -> None:
        assert re.search(r"Passed:\s*2/3", log)
        assert re.search(r"Failed:\s*1/3", log)


class TestSamples:
    def passes(self, bench: Workbench, wrong_at: int, passes: int, **options: Any) -> Any:
        with bench.trace(**options):
            for tick in range(passes):
                x = annotate.input_tensors("n", {"x": torch.ones(3)})
                offset = torch.full((3,), 1.0 if tick >= wrong_at else 0.0)
                annotate.output_tensors("n", {"y": x + offset}, export_with="jit")
        return bench.compile(strict=False)

    def labels(self, results: Any) -> list[str]:
        (node,) = results.report["nodes"]
        return [sample["label"] for sample in node["samples"]]

    def test_default_keeps_five(self, bench: Workbench) -> None:
        results = self.passes(bench, 4, 7)
        assert results == {"n": False}
        assert self.labels(results) == [f"sample {i}" for i in range(6)]

    def test_sample_beyond_the_limit_is_not_seen(self, bench: Workbench) -> None:
        assert self.passes(bench, 3, 6, max_cached_io=2) == {"n": True}

    @pytest.mark.parametrize("limit", [1, 2, 3])
    def test_limit_counts_reentries(self, bench: Workbench, limit: int) -> None:
        """Sample 0 and up to N later passes."""
        results = self.passes(bench, 1, 9, max_cached_io=limit)
        assert results == {"n": False}
        assert self.labels(results) == [f"sample {i}" for i in range(limit + 1)]

    def test_none_kept(self, bench: Workbench) -> None:
        assert self.passes(bench, 1, 4, max_cached_io=0) == {"n": True}

    def test_labels_start_at_zero(self, bench: Workbench) -> None:
        torch.manual_seed(0)
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            annotate.output_tensors("n", {"y": x / x.sub(1)}, export_with="jit")
        assert self.labels(bench.compile(strict=False)) == ["sample 0"]

    def test_caller_may_reuse_its_memory(self, bench: Workbench) -> None:
        """Samples are copies: writing to the input between passes changes nothing."""
        buffer = torch.zeros(3)
        with bench.trace():
            for tick in range(4):
                buffer.fill_(float(tick))
                x = annotate.input_tensors("n", {"x": buffer})
                annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        assert bench.compile() == {"n": True}


class TestNotFinite:
    def figures(self, results: Any) -> list[tuple[Any, Any]]:
        """Return the values of the program and of the model for the only output, by sample."""
        (node,) = results.report["nodes"]
        outputs = [output for sample in node["samples"] for output in sample["outputs"]]
        return [(output["source"], output["exported"]) for output in outputs]

    def test_agreed_infinity_passes(self, bench: Workbench, backend: str) -> None:
        mask = torch.tensor([True, False, False])
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.randn(3)})
            annotate.output_tensors(
                "n", {"logits": x.masked_fill(mask, float("-inf"))}, export_with=backend
            )
        assert bench.compile() == {"n": True}

    def test_agreed_nan_passes(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.tensor([-1.0, 4.0])})
            annotate.output_tensors("n", {"y": torch.sqrt(x)}, export_with=backend)
        assert bench.compile() == {"n": True}

    def test_they_are_reported(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.tensor([-1.0, 4.0, 1.0, 1.0])})
            annotate.output_tensors("n", {"y": torch.sqrt(x)}, export_with="jit")
        ((source, exported),) = self.figures(bench.compile(strict=False))
        assert source == exported
        assert (source["nan"], source["nan_percent"], source["inf"]) == (1, 25, 0)
        assert re.search(r"n/y.*NaN", bench.log())

    def test_only_traced_side_fails(self, bench: Workbench) -> None:
        """A NaN in the trace that the model does not return is a mismatch."""
        with bench.trace():
            for tick in range(2):
                x = annotate.input_tensors("n", {"x": torch.ones(4)})
                poison = torch.full((4,), float("nan") if tick else 0.0)
                annotate.output_tensors("n", {"y": x + poison}, export_with="jit")
        results = bench.compile(strict=False)
        assert results == {"n": False}
        source, exported = self.figures(results)[1]
        assert (source["nan"], source["nan_percent"], exported["nan"]) == (4, 100, 0)

    def test_only_exported_side_fails(self, bench: Workbench) -> None:
        with bench.trace():
            for tick in range(2):
                x = annotate.input_tensors("n", {"x": torch.ones(4)})
                poison = torch.full((4,), 0.0 if tick else float("inf"))
                annotate.output_tensors("n", {"y": x + poison}, export_with="jit")
        results = bench.compile(strict=False)
        assert results == {"n": False}
        source, exported = self.figures(results)[1]
        assert (source["inf"], exported["inf"], exported["inf_percent"]) == (0, 4, 100)


class TestBakedValues:
    """A value that leaves the trace is reported with its line, or stays right."""

    @pytest.mark.parametrize(
        "leave",
        [
            lambda x: x.sum().item(),
            lambda x: float(x.sum()),
            lambda x: int(x.sum()),
            lambda x: x.tolist()[0],
            lambda x: x.numpy().sum(),
            lambda x: 1.0 if x.sum() > 0 else 2.0,
            lambda x: float(bool(x.sum() > 0)),
            lambda x: sum(float(v) for v in x),
        ],
        ids=["item", "float", "int", "tolist", "numpy", "if", "bool", "loop"],
    )
    def test_named(self, bench: Workbench, leave: Any, capfd: pytest.CaptureFixture[str]) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            annotate.output_tensors("n", {"y": x * leave(x)}, export_with="jit")
        bench.compile(strict=False)
        shown = capfd.readouterr()
        assert re.search(r"test_spec_validation\.py:\d+", bench.log() + shown.out + shown.err)

    def test_shown_on_the_console(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            annotate.output_tensors("n", {"y": x * x.sum().item()}, export_with="jit")
        bench.compile(strict=False)
        shown = capfd.readouterr()
        assert re.search(r"test_spec_validation\.py:\d+", shown.out + shown.err)

    @pytest.mark.parametrize(
        "noise",
        [torch.rand_like, torch.randn_like, torch.bernoulli, lambda x: torch.dropout(x, 0.5, True)],
        ids=["rand_like", "randn_like", "bernoulli", "dropout"],
    )
    def test_random_op(self, bench: Workbench, noise: Any) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.full((3,), 0.5)})
            annotate.output_tensors("n", {"y": x + noise(x)}, export_with="jit")
        bench.compile(strict=False)
        assert re.search(r"test_spec_validation\.py:\d+", bench.log())

    def test_a_clean_program_gives_no_message(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        weight = torch.randn(3, 3)
        with bench.trace():
            for _ in range(2):
                x = annotate.input_tensors("n", {"x": torch.randn(3)})
                annotate.output_tensors("n", {"y": torch.relu(x @ weight)}, export_with="jit")
        bench.compile()
        shown = capfd.readouterr()
        assert "WARN" not in (shown.out + shown.err).upper()

    def test_shapes_and_metadata_are_not_reported(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.randn(2, 3)})
            y = x.reshape(x.shape[1], x.size(0)) * len(x) + x.numel() + x.dim()
            annotate.output_tensors("n", {"y": y}, export_with="jit")
        bench.compile()
        shown = capfd.readouterr()
        assert "WARN" not in (shown.out + shown.err).upper()


class TestNotCompared:
    """Values that cannot be compared are reported as such, and never count as passed."""

    @pytest.mark.filterwarnings("ignore")
    def test_exported_programs_are_validated(self, bench: Workbench) -> None:
        with bench.trace():
            for tick in range(2):
                x = annotate.input_tensors("n", {"x": torch.ones(3) * tick})
                h = annotate.state_tensors("n", {"h": torch.zeros(3)})
                annotate.update_state("n", {"h": h + x})
                offset = torch.full((3,), float(tick))
                annotate.output_tensors("n", {"y": x + offset}, export_with="pt2")
        assert bench.compile(strict=False) == {"n": False}
        assert "n/y sample 1: Mismatch detected" in bench.log()

    def test_random_nodes_are_run_but_not_passed(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with bench.trace(noise="model"):
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            annotate.output_tensors("n", {"y": x + torch.rand_like(x)}, export_with="jit")
        assert bench.compile() == {"n": True}
        assert "[NOT VALIDATED] n: it draws random numbers" in capfd.readouterr().err
        assert "Passed: 0/1" in bench.log()
        assert "Not validated: 1/1" in bench.log()


def test_a_pass_that_keeps_something_else_is_reported(bench: Workbench) -> None:
    pushes, rings = torch.zeros(2, dtype=torch.long), [torch.empty(0)]
    with bench.trace():
        for tick in range(4):
            x = annotate.input_tensors("n", {"x": torch.rand(2, 4)})
            if tick == 0:
                rings[0] = torch.empty(3, 2, 4)
            rings[0][tick % 3] = x
            first = pushes == 0
            rings[0][:, first] = x[first]
            pushes += 1
            y = rings[0].roll(2 - tick % 3, 0) * 2
            annotate.output_tensors("n", {"y": y}, export_with="jit")
    with refused("LP409", "'y'", "test_spec_validation.py:"):
        bench.compile()
