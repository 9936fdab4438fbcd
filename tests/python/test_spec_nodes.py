"""Nodes: opened and closed anywhere, connected by their values, and entered again."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from conftest import Workbench, ports, refused
from torch import nn

import leapp
from leapp import annotate


class TestNodes:
    def test_distributed_inputs(self, bench: Workbench, backend: str) -> None:
        def first() -> torch.Tensor:
            obs: torch.Tensor = annotate.input_tensors("pre", {"obs1_name": torch.randn(1, 8)})
            return obs - obs.mean()

        def second() -> torch.Tensor:
            obs: torch.Tensor = annotate.input_tensors("pre", {"obs2_name": torch.randn(1, 8)})
            return obs / (obs.abs().max() + 1e-6)

        weight = torch.randn(16, 4)
        with bench.trace():
            features = torch.cat([first(), second()], dim=-1)
            features = annotate.output_tensors(
                "pre", {"processed_features": features}, export_with=backend
            )
            features = annotate.input_tensors("predict", {"features": features})
            annotate.output_tensors(
                "predict", {"output": torch.relu(features @ weight)}, export_with=backend
            )
        assert bench.compile() == {"pre": True, "predict": True}
        assert ports(bench, "pre") == ["obs1_name", "obs2_name"]
        a, b = torch.randn(1, 8), torch.randn(1, 8)
        result = bench.manager()({"pre/obs1_name": a, "pre/obs2_name": b})["predict/output"]
        expected = torch.relu(torch.cat([a - a.mean(), b / (b.abs().max() + 1e-6)], -1) @ weight)
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)

    def test_mixed_backends_in_one_pipeline(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("a", {"x": torch.ones(1, 4)})
            y = annotate.output_tensors("a", {"y": x * 2}, export_with="jit")
            y = annotate.input_tensors("b", {"y": y})
            annotate.output_tensors("b", {"z": torch.relu(y)}, export_with="onnx")
        bench.compile()
        assert bench.path("g", "a.pt").exists()
        assert bench.path("g", "b.onnx").exists()
        x = torch.randn(1, 4)
        torch.testing.assert_close(bench.manager()({"a/x": x})["b/z"], torch.relu(x * 2))

    def test_nodes_may_interleave(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            a = annotate.input_tensors("one", {"a": torch.ones(2)})
            b = annotate.input_tensors("two", {"b": torch.ones(2)})
            a = a + 1
            b = b * 5
            a = a * 3
            annotate.output_tensors("two", {"z": b}, export_with=backend)
            annotate.output_tensors("one", {"y": a}, export_with=backend)
        bench.compile()
        result = bench.manager()({"one/a": torch.ones(2), "two/b": torch.ones(2) * 2})
        assert torch.equal(result["one/y"], torch.full((2,), 6.0))
        assert torch.equal(result["two/z"], torch.full((2,), 10.0))

    def test_models_are_in_order_of_completion(self, bench: Workbench) -> None:
        with bench.trace():
            a = annotate.input_tensors("opened_first", {"a": torch.ones(2)})
            b = annotate.input_tensors("closed_first", {"b": torch.ones(2)})
            annotate.output_tensors("closed_first", {"z": b * 2}, export_with="jit")
            annotate.output_tensors("opened_first", {"y": a * 2}, export_with="jit")
        bench.compile()
        assert list(bench.yaml()["models"]) == ["closed_first", "opened_first"]

    def test_helpers_deep_in_the_stack_are_traced(self, bench: Workbench) -> None:
        def deeper(x: torch.Tensor, depth: int) -> torch.Tensor:
            return deeper(x + 1, depth - 1) if depth else x * 2

        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": deeper(x, 50)}, export_with="jit")
        bench.compile()
        assert torch.equal(bench.manager()({"n/x": torch.zeros(2)})["n/y"], torch.full((2,), 100.0))

    def test_unused_inputs_are_pruned(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            x, _unused = annotate.input_tensors("n", {"x": torch.ones(2), "unused": torch.ones(5)})
            annotate.output_tensors("n", {"y": x * 2}, export_with=backend)
        bench.compile()
        assert ports(bench, "n") == ["x"]
        assert bench.manager().inputs == ["n/x"]

    def test_output_may_be_an_input(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"same": x, "y": x * 2}, export_with=backend)
        bench.compile()
        fresh = torch.randn(2)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/same"], fresh)

    def test_output_may_be_a_view_of_an_input(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2, 3)})
            annotate.output_tensors("n", {"t": x.t(), "row": x[0]}, export_with=backend)
        bench.compile()
        fresh = torch.randn(2, 3)
        result = bench.manager()({"n/x": fresh})
        torch.testing.assert_close(result["n/t"], fresh.t())
        torch.testing.assert_close(result["n/row"], fresh[0])

    def test_one_tensor_as_two_outputs(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            y = x * 2
            annotate.output_tensors("n", {"y": y, "again": y}, export_with=backend)
        bench.compile()
        fresh = torch.randn(2)
        result = bench.manager()({"n/x": fresh})
        torch.testing.assert_close(result["n/y"], fresh * 2)
        torch.testing.assert_close(result["n/again"], fresh * 2)

    def test_fan_out_to_two_nodes(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("a", {"x": torch.ones(2)})
            y = annotate.output_tensors("a", {"y": x * 2}, export_with="jit")
            for node in ("b", "c"):
                z = annotate.input_tensors(node, {"z": y})
                annotate.output_tensors(node, {"w": z + 1}, export_with="jit")
        bench.compile()
        assert bench.yaml()["pipeline"]["data_flow"] == {"a/y": ["b/z", "c/z"]}

    @pytest.mark.parametrize(
        "copy",
        [
            lambda t: t.clone(),
            lambda t: t.detach(),
            lambda t: t.contiguous(),
            lambda t: t.cpu(),
            lambda t: t.to("cpu"),
            lambda t: t.view(2, 3),
            lambda t: t.reshape(2, 3),
            lambda t: t.unsqueeze(0).squeeze(0),
            lambda t: t.clone().detach().contiguous(),
            lambda t: torch.from_numpy(t.detach().numpy()),
        ],
        ids="clone detach contiguous cpu to view reshape squeeze chain numpy".split(),
    )
    def test_wire_survives(self, bench: Workbench, copy: Any) -> None:
        with bench.trace():
            x = annotate.input_tensors("a", {"x": torch.ones(2, 3)})
            y = annotate.output_tensors("a", {"y": x * 2}, export_with="jit")
            z = annotate.input_tensors("b", {"z": copy(y)})
            annotate.output_tensors("b", {"w": z + 1}, export_with="jit")
        bench.compile()
        assert bench.yaml()["pipeline"]["data_flow"] == {"a/y": ["b/z"]}
        assert bench.yaml()["pipeline"]["inputs"] == {"a": ["x"]}

    def test_reentry_with_other_shape(self, bench: Workbench) -> None:
        def once(n: int) -> None:
            x = annotate.input_tensors("n", {"x": torch.ones(n)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")

        leapp.start("g", save_path=str(bench.folder))
        once(2)
        with refused("LP109"):
            once(3)

    def test_reentry_with_other_dtype(self, bench: Workbench) -> None:
        def once(dtype: torch.dtype) -> None:
            x = annotate.input_tensors("n", {"x": torch.ones(2, dtype=dtype)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")

        leapp.start("g", save_path=str(bench.folder))
        once(torch.float32)
        with refused("LP109"):
            once(torch.float64)

    @pytest.mark.parametrize("side", ["input", "output"])
    def test_reentry_with_other_name(self, bench: Workbench, side: str) -> None:
        def once(name: str) -> None:
            inner = name if side == "input" else "x"
            outer = name if side == "output" else "y"
            x = annotate.input_tensors("n", {inner: torch.ones(2)})
            annotate.output_tensors("n", {outer: x * 2}, export_with="jit")

        leapp.start("g", save_path=str(bench.folder))
        once("one")
        with refused("LP109"):
            once("other")

    def test_loops_are_ordinary_code(self, bench: Workbench) -> None:
        with bench.trace():
            for _ in range(10):
                x = annotate.input_tensors("n", {"x": torch.randn(2)})
                annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        assert bench.compile() == {"n": True}

    def test_nodes_traced_in_a_thread(self, bench: Workbench) -> None:
        def work() -> None:
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": torch.tanh(x)}, export_with="jit")

        with bench.trace():
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        assert bench.compile() == {"n": True}
        fresh = torch.randn(2)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], torch.tanh(fresh))

    def test_grad_modes(self, bench: Workbench) -> None:
        layer = nn.Linear(3, 2)
        with bench.trace():
            for mode, node in (
                (torch.no_grad, "a"),
                (torch.enable_grad, "b"),
                (torch.inference_mode, "c"),
            ):
                with mode():
                    x = annotate.input_tensors(node, {"x": torch.ones(1, 3)})
                    annotate.output_tensors(node, {"y": layer(x)}, export_with="jit")
        assert bench.compile() == {"a": True, "b": True, "c": True}


def test_reentry_from_another_line(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        x = annotate.input_tensors("n", {"x": torch.zeros(2)})
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    assert bench.compile() == {"n": True}
