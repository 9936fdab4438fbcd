"""Payloads of input_tensors and output_tensors: their forms, their names, and their errors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, ports, refused

import leapp
from leapp import TensorSemantics, annotate


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
        with refused("LP108", "'a_b'"):
            annotate.input_tensors("n", {"a": {"b": torch.ones(2)}, "a_b": torch.ones(2)})

    def test_numpy_leaf_is_traced(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": np.ones(3, dtype=np.float32)})
            y = torch.as_tensor(x) * 2
            annotate.output_tensors("n", {"y": y}, export_with="jit")
        bench.compile()
        fresh = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": fresh})["n/y"], fresh * 2)

    def test_other_leaf_passes_through_with_a_warning(self, bench: Workbench) -> None:
        with bench.trace():
            x, gain = annotate.input_tensors("n", {"x": torch.ones(2), "gain": 3.0})
            assert gain == 3.0
            annotate.output_tensors("n", {"y": x * gain}, export_with="jit")
        bench.compile()
        assert ports(bench, "n") == ["x"]
        (said,) = [each for each in leapp.diagnostics() if each.code == "LP213"]
        assert "'gain'" in said.text

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
        with refused("LP120"):
            getattr(annotate, call)("n", torch.ones(2))

    @calls
    @pytest.mark.parametrize("payload", [[torch.ones(2)], [], 3, "x", None])
    def test_raw_collection(self, bench: Workbench, call: str, payload: Any) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with refused("LP120"):
            getattr(annotate, call)("n", payload)

    def test_mixed_list(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with refused("LP120"):
            annotate.input_tensors(
                "n", [TensorSemantics(name="a", ref=torch.ones(2)), torch.ones(2)]
            )

    def test_duplicate_semantics(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with refused("LP120"):
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
        with refused("LP108"):
            annotate.input_tensors("n", {"a": torch.ones(2)})

    def test_output_before_input(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with refused("LP105"):
            annotate.output_tensors("n", {"y": torch.ones(2)}, export_with="jit")

    def test_output_not_derived_from_the_node(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"a": torch.ones(2)})
        with refused("LP111"):
            annotate.output_tensors("n", {"y": torch.zeros(2)}, export_with="jit")

    def test_output_of_another_node(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        a = annotate.input_tensors("one", {"a": torch.ones(2)})
        annotate.input_tensors("two", {"b": torch.ones(2)})
        with refused("LP110"):
            annotate.output_tensors("two", {"y": a + 1}, export_with="jit")

    def test_op_over_two_nodes(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        a = annotate.input_tensors("one", {"a": torch.ones(2)})
        b = annotate.input_tensors("two", {"b": torch.ones(2)})
        with refused("LP110") as caught:
            _ = a + b
        assert sorted(re.findall(r"'(one|two)'", str(caught.value))) == ["one", "two"]

    def test_unknown_backend(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with refused("LP119", "fortran"):
            annotate.output_tensors("n", {"y": x + 1}, export_with="fortran")
            leapp.stop()
            leapp.compile_graph(visualize=False)

    def test_errors_name_the_users_line(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        a = annotate.input_tensors("one", {"a": torch.ones(2)})
        b = annotate.input_tensors("two", {"b": torch.ones(2)})
        with refused("LP110", "test_spec_payloads.py:"):
            _ = a * b


def test_callers_tensor_keeps_its_class(bench: Workbench) -> None:
    class Pose(torch.Tensor):
        pass

    raw = torch.ones(2)
    special = torch.ones(2).as_subclass(Pose)
    with bench.trace():
        x, p = annotate.input_tensors("n", {"x": raw, "p": special})
        annotate.output_tensors("n", {"y": x + p}, export_with="jit")
    assert type(raw) is torch.Tensor
    assert type(special) is Pose
    assert torch.equal(raw, torch.ones(2))


@pytest.mark.parametrize("exporter", ["jit", "onnx"])
def test_unknown_backend_parameter(bench: Workbench, exporter: str) -> None:
    leapp.start("g", save_path=str(bench.folder))
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    with refused("LP119", "colour"):
        annotate.output_tensors(
            "n", {"y": x * 2}, export_with=exporter, backend_params={"colour": "blue"}
        )
        leapp.stop()
        leapp.compile_graph(visualize=False)


def test_unknown_keyword_of_output_tensors(bench: Workbench) -> None:
    leapp.start("g", save_path=str(bench.folder))
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    with pytest.raises(TypeError, match="colour"):
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit", colour="blue")
