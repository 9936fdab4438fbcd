"""input_tensors, output_tensors and method: payloads, names, nodes, and their errors."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench
from torch import nn

import leapp
from leapp import TensorSemantics, annotate


def ports(bench: Workbench, node: str, side: str = "inputs") -> list[str]:
    return [port["name"] for port in bench.yaml()["models"][node][side]]


class TestPayloads:
    def test_one_entry_returns_the_bare_value(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            assert isinstance(x, torch.Tensor)
            y = annotate.output_tensors("n", {"y": x + 1}, export_with="jit")
            assert isinstance(y, torch.Tensor)

    def test_many_entries_return_a_tuple_in_order(self, bench: Workbench) -> None:
        with bench.trace():
            values = {"b": torch.ones(2), "a": torch.ones(3)}
            traced = annotate.input_tensors("n", values)
            assert isinstance(traced, tuple)
            assert [t.shape[0] for t in traced] == [2, 3]
            results = annotate.output_tensors(
                "n", {"z": traced[0] + 1, "y": traced[1] + 1}, export_with="jit"
            )
            assert [r.shape[0] for r in results] == [2, 3]
        bench.compile()
        assert ports(bench, "n") == ["b", "a"]
        assert ports(bench, "n", "outputs") == ["z", "y"]

    def test_values_are_unchanged(self, bench: Workbench) -> None:
        x = torch.randn(3)
        with bench.trace():
            traced = annotate.input_tensors("n", {"x": x})
            assert torch.equal(traced, x)
            y = annotate.output_tensors("n", {"y": traced * 2}, export_with="jit")
        assert torch.equal(y, x * 2)

    def test_outputs_are_plain_tensors(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            y = annotate.output_tensors("n", {"y": x + 1}, export_with="jit")
            assert type(y) is torch.Tensor

    def test_single_semantics(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", TensorSemantics(name="x", ref=torch.ones(2)))
            assert isinstance(x, torch.Tensor)
            annotate.output_tensors("n", TensorSemantics(name="y", ref=x + 1), export_with="jit")
        bench.compile()
        assert ports(bench, "n") == ["x"]

    def test_list_of_semantics(self, bench: Workbench) -> None:
        with bench.trace():
            a, b = annotate.input_tensors(
                "n",
                [
                    TensorSemantics(name="a", ref=torch.ones(2)),
                    TensorSemantics(name="b", ref=torch.ones(2)),
                ],
            )
            annotate.output_tensors("n", [TensorSemantics(name="y", ref=a + b)], export_with="jit")
        bench.compile()
        assert ports(bench, "n") == ["a", "b"]

    def test_nested_payload_comes_back_with_its_shape(self, bench: Workbench) -> None:
        with bench.trace():
            state = annotate.input_tensors(
                "n",
                {"s": {"pos": torch.ones(2), "lidar": [torch.ones(3), torch.ones(3) * 2]}},
            )
            assert set(state) == {"pos", "lidar"}
            assert isinstance(state["lidar"], (list, tuple))
            total = state["pos"].sum() + state["lidar"][0].sum() + state["lidar"][1].sum()
            annotate.output_tensors("n", {"y": total}, export_with="jit")
        bench.compile()
        assert ports(bench, "n") == ["s_pos", "s_lidar_0", "s_lidar_1"]

    def test_nested_payload_runs(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            s, g = annotate.input_tensors(
                "n",
                {
                    "s": {"a": torch.ones(2), "b": (torch.ones(2), torch.ones(2))},
                    "g": torch.ones(2),
                },
            )
            annotate.output_tensors("n", {"y": s["a"] + 2 * s["b"][1] + g}, export_with=backend)
        bench.compile()
        manager = bench.manager()
        feed = {key: torch.full((2,), float(i + 1)) for i, key in enumerate(manager.inputs)}
        result = manager(feed)["n/y"]
        expected = feed["n/s_a"] + 2 * feed["n/s_b_1"] + feed["n/g"]
        torch.testing.assert_close(result, expected)

    def test_nested_outputs(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            result = annotate.output_tensors(
                "n", {"cmd": {"left": x + 1, "right": [x + 2, x + 3]}}, export_with="jit"
            )
            assert torch.equal(result["right"][1], torch.full((2,), 4.0))
        bench.compile()
        assert ports(bench, "n", "outputs") == ["cmd_left", "cmd_right_0", "cmd_right_1"]

    def test_deep_nesting(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"o": {"p": {"q": [[torch.ones(2)]]}}})
            annotate.output_tensors("n", {"y": x["p"]["q"][0][0] * 2}, export_with="jit")
        bench.compile()
        assert ports(bench, "n") == ["o_p_q_0_0"]

    def test_nested_names_that_collide_are_an_error(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(Exception, match="a_b"):
            x = annotate.input_tensors("n", {"a": {"b": torch.ones(2)}, "a_b": torch.ones(2)})
            annotate.output_tensors("n", {"y": x[0]["b"] + x[1]}, export_with="jit")

    def test_numpy_leaf_is_traced(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": np.ones(3, dtype=np.float32)})
            y = torch.as_tensor(x) * 2
            annotate.output_tensors("n", {"y": y}, export_with="jit")
        bench.compile()
        fresh = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], fresh * 2)

    def test_other_leaf_passes_through_with_a_warning(
        self, bench: Workbench, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with bench.trace():
            x, gain = annotate.input_tensors("n", {"x": torch.ones(2), "gain": 3.0})
            assert gain == 3.0
            annotate.output_tensors("n", {"y": x * gain}, export_with="jit")
        bench.compile()
        assert ports(bench, "n") == ["x"]
        shown = capfd.readouterr()
        assert "gain" in bench.log() + shown.out + shown.err

    def test_the_callers_tensor_is_not_written(self, bench: Workbench) -> None:
        x = torch.ones(2)
        with bench.trace():
            traced = annotate.input_tensors("n", {"x": x})
            y = traced * 2
            y += 1
            annotate.output_tensors("n", {"y": y}, export_with="jit")
        bench.compile()
        assert torch.equal(x, torch.ones(2))


class TestPayloadErrors:
    calls = pytest.mark.parametrize("call", ["input_tensors", "output_tensors"])

    @calls
    def test_bare_tensor(self, bench: Workbench, call: str) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(TypeError, match="does not accept a bare tensor"):
            getattr(annotate, call)("n", torch.ones(2))

    @calls
    @pytest.mark.parametrize("payload", [[torch.ones(2)], [], 3, "x", None])
    def test_raw_collection(self, bench: Workbench, call: str, payload: Any) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(TypeError, match=r"expects either a dict of named tensors|All items"):
            getattr(annotate, call)("n", payload)

    def test_mixed_list(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(TypeError, match="All items must be TensorSemantics"):
            annotate.input_tensors(
                "n", [TensorSemantics(name="a", ref=torch.ones(2)), torch.ones(2)]
            )

    def test_duplicate_semantics(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(ValueError, match="Duplicate TensorSemantics names"):
            annotate.input_tensors(
                "n",
                [
                    TensorSemantics(name="a", ref=torch.ones(2)),
                    TensorSemantics(name="a", ref=torch.ones(2)),
                ],
            )

    def test_semantics_inside_a_dict(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(TypeError):
            annotate.input_tensors("n", {"a": TensorSemantics(name="a", ref=torch.ones(2))})

    def test_name_twice_over_two_calls(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"a": torch.ones(2)})
        with pytest.raises(Exception, match="Duplicate i/o name"):
            annotate.input_tensors("n", {"a": torch.ones(2)})

    def test_output_before_input(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(Exception, match=r"input_tensors\(\) was never called for it"):
            annotate.output_tensors("n", {"y": torch.ones(2)}, export_with="jit")

    def test_output_not_derived_from_the_node(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"a": torch.ones(2)})
        with pytest.raises(Exception, match="non-traced tensors"):
            annotate.output_tensors("n", {"y": torch.zeros(2)}, export_with="jit")

    def test_output_of_another_node(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        a = annotate.input_tensors("one", {"a": torch.ones(2)})
        annotate.input_tensors("two", {"b": torch.ones(2)})
        with pytest.raises(Exception, match="belong to a different node"):
            annotate.output_tensors("two", {"y": a + 1}, export_with="jit")

    def test_op_over_two_nodes(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        a = annotate.input_tensors("one", {"a": torch.ones(2)})
        b = annotate.input_tensors("two", {"b": torch.ones(2)})
        with pytest.raises(Exception, match="Mixing active contexts is not allowed") as caught:
            _ = a + b
        assert "one" in str(caught.value)
        assert "two" in str(caught.value)

    def test_unknown_backend(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(Exception, match="fortran"):
            annotate.output_tensors("n", {"y": x + 1}, export_with="fortran")
            leapp.stop()
            leapp.compile_graph(visualize=False)

    def test_errors_name_the_users_line(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        a = annotate.input_tensors("one", {"a": torch.ones(2)})
        b = annotate.input_tensors("two", {"b": torch.ones(2)})
        with pytest.raises(Exception, match=r"test_spec_annotate\.py:\d+"):
            _ = a * b


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
        with pytest.raises(Exception, match="Reentering n with new i/o"):
            once(3)

    def test_reentry_with_other_dtype(self, bench: Workbench) -> None:
        def once(dtype: torch.dtype) -> None:
            x = annotate.input_tensors("n", {"x": torch.ones(2, dtype=dtype)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")

        leapp.start("g", save_path=str(bench.folder))
        once(torch.float32)
        with pytest.raises(Exception, match="Reentering n with new i/o"):
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
        with pytest.raises(Exception, match="Reentering n with new i/o"):
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


class TestMethod:
    def test_node_takes_the_functions_name(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def scale(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        with bench.trace():
            scale(torch.ones(2))
        bench.compile()
        assert list(bench.yaml()["models"]) == ["scale"]

    def test_node_name(self, bench: Workbench) -> None:
        @annotate.method(node_name="renamed", export_with="jit")
        def scale(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        with bench.trace():
            scale(torch.ones(2))
        bench.compile()
        assert list(bench.yaml()["models"]) == ["renamed"]

    def test_inputs_take_parameter_names(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def mix(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
            return left + right * 2

        with bench.trace():
            mix(torch.ones(2), right=torch.ones(2))
        bench.compile()
        assert ports(bench, "mix") == ["left", "right"]

    def test_output_takes_the_returned_variables_name(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor) -> torch.Tensor:
            doubled = x * 2
            return doubled

        with bench.trace():
            f(torch.ones(2))
        bench.compile()
        assert ports(bench, "f", "outputs") == ["doubled"]

    def test_outputs_take_the_returned_variables_names(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            mean = x.mean()
            rest = x - mean
            return mean, rest

        with bench.trace():
            f(torch.ones(2))
        bench.compile()
        assert ports(bench, "f", "outputs") == ["mean", "rest"]

    def test_unnamed_outputs_are_numbered(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x * 2, x * 3

        with bench.trace():
            f(torch.ones(2))
        bench.compile()
        assert ports(bench, "f", "outputs") == ["output1", "output2"]

    def test_star_arguments(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(*values: torch.Tensor) -> torch.Tensor:
            return values[0] + values[1]

        with bench.trace():
            f(torch.ones(2), torch.ones(2))
        bench.compile()
        assert ports(bench, "f") == ["arg_0", "arg_1"]

    def test_keyword_arguments(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(**values: torch.Tensor) -> torch.Tensor:
            return values["left"] + values["right"]

        with bench.trace():
            f(left=torch.ones(2), right=torch.ones(2))
        bench.compile()
        assert sorted(ports(bench, "f")) == ["left", "right"]

    def test_self_is_no_input(self, bench: Workbench) -> None:
        class Controller:
            gain = 3.0

            @annotate.method(export_with="jit")
            def act(self, obs: torch.Tensor) -> torch.Tensor:
                return obs * self.gain

        with bench.trace():
            Controller().act(torch.ones(2))
        bench.compile()
        assert ports(bench, "act") == ["obs"]

    def test_on_module_forward(self, bench: Workbench, backend: str) -> None:
        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = nn.Linear(3, 2)

            @annotate.method(node_name="net", export_with=backend)
            def forward(self, obs: torch.Tensor) -> torch.Tensor:
                action = self.layer(obs)
                return action

        net = Net().eval()
        with bench.trace():
            net(torch.randn(1, 3))
        bench.compile()
        fresh = torch.randn(1, 3)
        torch.testing.assert_close(
            bench.manager()({"net/obs": fresh})["net/action"], net(fresh).detach()
        )

    def test_tensor_default_is_a_constant(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor, offset: torch.Tensor = torch.full((2,), 5.0)) -> torch.Tensor:
            y = x + offset
            return y

        with bench.trace():
            f(torch.ones(2))
        bench.compile()
        assert ports(bench, "f") == ["x"]
        assert torch.equal(bench.manager()({"f/x": torch.zeros(2)})["f/y"], torch.full((2,), 5.0))

    def test_tensor_default_that_is_passed_is_an_input(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor, offset: torch.Tensor = torch.full((2,), 5.0)) -> torch.Tensor:
            y = x + offset
            return y

        with bench.trace():
            f(torch.ones(2), torch.zeros(2))
        bench.compile()
        assert ports(bench, "f") == ["x", "offset"]

    def test_plain_arguments_are_constants(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor, gain: float, flip: bool = False) -> torch.Tensor:
            y = x * (-gain if flip else gain)
            return y

        with bench.trace():
            f(torch.ones(2), 4.0, flip=True)
        bench.compile()
        assert torch.equal(bench.manager()({"f/x": torch.ones(2)})["f/y"], torch.full((2,), -4.0))

    def test_nested_arguments(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(obs: dict[str, torch.Tensor]) -> torch.Tensor:
            y = obs["pos"] + obs["vel"]
            return y

        with bench.trace():
            f({"pos": torch.ones(2), "vel": torch.ones(2)})
        bench.compile()
        assert ports(bench, "f") == ["obs_pos", "obs_vel"]

    def test_returned_dict_names_the_outputs(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"left": x * 2, "right": x * 3}

        with bench.trace():
            result = f(torch.ones(2))
            assert set(result) == {"left", "right"}
        bench.compile()
        names = ports(bench, "f", "outputs")
        assert len(names) == 2
        assert names[0].endswith("left")

    def test_result_is_an_ordinary_tensor(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        with bench.trace():
            assert type(f(torch.ones(2))) is torch.Tensor

    def test_wires_between_methods(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def first(x: torch.Tensor) -> torch.Tensor:
            y = x + 1
            return y

        @annotate.method(export_with="jit")
        def second(z: torch.Tensor) -> torch.Tensor:
            w = z * 2
            return w

        with bench.trace():
            second(first(torch.ones(2)))
        bench.compile()
        assert bench.yaml()["pipeline"]["data_flow"] == {"first/y": ["second/z"]}

    def test_annotations_inside_a_method(self, bench: Workbench) -> None:
        memory = torch.zeros(2)

        @annotate.method(node_name="n", export_with="jit")
        def f(x: torch.Tensor) -> torch.Tensor:
            goal = annotate.input_tensors("n", {"goal": torch.ones(2)})
            h = annotate.state_tensors("n", {"h": memory})
            y = x + goal + h
            annotate.update_state("n", {"h": y})
            return y

        with bench.trace():
            f(torch.ones(2))
        bench.compile()
        assert set(ports(bench, "n")) == {"x", "goal", "h"}
        assert bench.yaml()["pipeline"]["feedback_flow"] == {"n/h": ["n/h"]}

    def test_name_and_doc_are_kept(self) -> None:
        @annotate.method(export_with="jit")
        def documented(x: torch.Tensor) -> torch.Tensor:
            """What it does."""
            return x

        assert documented.__name__ == "documented"
        assert documented.__doc__ == "What it does."

    def test_exception_in_the_method_reaches_the_caller(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor) -> torch.Tensor:
            raise KeyError("mine")

        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(KeyError, match="mine"):
            f(torch.ones(2))


class TestStaticOutputs:
    def test_static_output_is_a_constant(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("my_node", {"input": torch.tensor([1.0, 2.0, 3.0])})
            annotate.output_tensors(
                "my_node",
                {"computed": x + 1.0},
                static_outputs={"static": torch.tensor([4.0, 5.0, 6.0])},
                export_with=backend,
            )
        assert bench.compile() == {"my_node": True}
        assert ports(bench, "my_node", "outputs") == ["computed", "static"]
        result = bench.manager()({"my_node/input": torch.zeros(3)})
        assert torch.equal(result["my_node/computed"], torch.ones(3))
        assert torch.equal(result["my_node/static"], torch.tensor([4.0, 5.0, 6.0]))

    def test_static_output_with_semantics(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors(
                "n",
                {"y": x + 1},
                static_outputs=[
                    TensorSemantics(name="kp", ref=torch.ones(2), kind=leapp.OutputKindEnum.KP),
                    TensorSemantics(name="kd", ref=torch.ones(2), kind=leapp.OutputKindEnum.KD),
                ],
                export_with="jit",
            )
        bench.compile()
        kinds = [port.get("kind") for port in bench.yaml()["models"]["n"]["outputs"]]
        assert kinds == [None, "kp", "kd"]

    def test_single_static_semantics(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors(
                "n",
                {"y": x + 1},
                static_outputs=TensorSemantics(name="kp", ref=torch.ones(2), kind="kp"),
                export_with="jit",
            )
        bench.compile()
        assert ports(bench, "n", "outputs") == ["y", "kp"]

    def test_traced_static_output(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(Exception, match="Static outputs should be constant tensors"):
            annotate.output_tensors(
                "n", {"y": x + 1}, static_outputs={"s": x * 2}, export_with="jit"
            )

    def test_bare_static_output(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(TypeError):
            annotate.output_tensors(
                "n", {"y": x + 1}, static_outputs=torch.ones(2), export_with="jit"
            )

    def test_static_output_shares_a_name(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(Exception, match="y"):
            annotate.output_tensors(
                "n", {"y": x + 1}, static_outputs={"y": torch.ones(2)}, export_with="jit"
            )

    def test_static_output_is_a_pipeline_output(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors(
                "n", {"y": x + 1}, static_outputs={"s": torch.ones(3)}, export_with="jit"
            )
        bench.compile()
        assert bench.yaml()["pipeline"]["outputs"] == {"n": ["y", "s"]}

    def test_static_output_on_reentry(self, bench: Workbench) -> None:
        gains = torch.ones(3)
        with bench.trace():
            for _ in range(3):
                x = annotate.input_tensors("n", {"x": torch.randn(2)})
                annotate.output_tensors(
                    "n", {"y": x + 1}, static_outputs={"s": gains}, export_with="jit"
                )
        assert bench.compile() == {"n": True}


class TestNumpyInterop:
    def test_round_trip_keeps_the_trace(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            y = torch.from_numpy(x.numpy()) * 2
            annotate.output_tensors("n", {"y": y}, export_with="jit")
        bench.compile()
        fresh = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], fresh * 2)

    @pytest.mark.parametrize("back", ["from_numpy", "as_tensor", "tensor"])
    @pytest.mark.parametrize("away", ["numpy", "asarray"])
    def test_each_way(self, bench: Workbench, back: str, away: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            array = x.numpy() if away == "numpy" else np.asarray(x)
            annotate.output_tensors("n", {"y": getattr(torch, back)(array) * 2}, export_with="jit")
        bench.compile()
        fresh = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], fresh * 2)

    def test_patches_go_away_with_stop(self, bench: Workbench) -> None:
        before = torch.from_numpy, torch.as_tensor, torch.tensor, torch.Tensor.numpy
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        assert (torch.from_numpy, torch.as_tensor, torch.tensor, torch.Tensor.numpy) == before

    def test_function_patch(self, bench: Workbench) -> None:
        import math

        with bench.trace(
            patching=[leapp.FunctionPatch(math, "fabs", lambda value: torch.abs(value))]
        ):
            x = annotate.input_tensors("n", {"x": torch.ones(3)})
            annotate.output_tensors("n", {"y": math.fabs(x)}, export_with="jit")
        bench.compile()
        assert math.fabs(-2.0) == 2.0
        fresh = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], fresh.abs())
