"""Feedback: inferred between nodes, mirrored by hand, and wires of later passes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import Workbench, refused
from test_spec_state import feedback, initial_values

import leapp
from leapp import annotate


class TestInferredFeedback:
    def run_documents_example(self, bench: Workbench, passes: int, backend: str) -> None:
        memory = torch.tensor([0.0])
        with bench.trace():
            for _ in range(passes):
                data, back = annotate.input_tensors(
                    "policy_step",
                    {"observation_scalar": torch.tensor([1.0]), "policy_memory_in": memory},
                )
                context = torch.tanh(data - 0.5 + 0.25 * back)
                action = torch.clamp(context * 2.0, min=-1.0, max=1.0)
                context, action = annotate.output_tensors(
                    "policy_step",
                    {"policy_context": context, "control_action": action},
                    export_with=backend,
                )
                hidden, previous = annotate.input_tensors(
                    "feedback_update",
                    {"policy_context": context, "policy_memory_prev": memory},
                )
                memory = 0.8 * previous + 0.2 * hidden
                memory = annotate.output_tensors(
                    "feedback_update", {"policy_memory_out": memory}, export_with=backend
                )
        assert bench.compile() == {"policy_step": True, "feedback_update": True}

    def test_documents_example(self, bench: Workbench, backend: str) -> None:
        self.run_documents_example(bench, 2, backend)
        section = bench.yaml()["pipeline"]
        assert section["feedback_flow"] == {
            "feedback_update/policy_memory_out": [
                "policy_step/policy_memory_in",
                "feedback_update/policy_memory_prev",
            ]
        }
        assert section["data_flow"] == {
            "policy_step/policy_context": ["feedback_update/policy_context"]
        }
        assert section["inputs"] == {"policy_step": ["observation_scalar"]}
        assert section["outputs"]["policy_step"] == ["control_action"]

    def test_documents_example_runs(self, bench: Workbench, backend: str) -> None:
        self.run_documents_example(bench, 2, backend)
        manager = bench.manager()
        assert set(manager.feedback_inputs) == {
            "policy_step/policy_memory_in",
            "feedback_update/policy_memory_prev",
        }
        memory = torch.tensor([0.0])
        for _ in range(6):
            obs = torch.randn(1)
            result = manager({"policy_step/observation_scalar": obs})
            context = torch.tanh(obs - 0.5 + 0.25 * memory)
            memory = 0.8 * memory + 0.2 * context
            torch.testing.assert_close(
                result["policy_step/control_action"], torch.clamp(context * 2, -1, 1)
            )

    def test_one_pass_infers_nothing(self, bench: Workbench) -> None:
        self.run_documents_example(bench, 1, "jit")
        assert feedback(bench) == {}

    def test_initial_values_of_feedback(self, bench: Workbench) -> None:
        start = torch.tensor([7.0])
        memory = start
        with bench.trace():
            for _ in range(2):
                x, m = annotate.input_tensors("n", {"x": torch.ones(1), "m": memory})
                memory = annotate.output_tensors("n", {"out": x + m}, export_with="jit")
        bench.compile()
        assert feedback(bench) == {"n/out": ["n/m"]}
        assert torch.equal(initial_values(bench)["n/m"], start)
        manager = bench.manager()
        assert [float(manager({"n/x": torch.ones(1)})["n/out"]) for _ in range(3)] == [8, 9, 10]

    def test_fed_back_action_stays_an_output(self, bench: Workbench, backend: str) -> None:
        last = torch.zeros(1, 2)
        with bench.trace():
            for _ in range(2):
                obs, prev = annotate.input_tensors(
                    "policy", {"obs": torch.randn(1, 2), "last_action": last}
                )
                last = annotate.output_tensors(
                    "policy", {"action": torch.tanh(obs + prev)}, export_with=backend
                )
        bench.compile()
        assert bench.yaml()["pipeline"]["outputs"] == {"policy": ["action"]}
        manager = bench.manager()
        assert manager.outputs == ["policy/action"]
        assert manager.inputs == ["policy/obs"]
        last = torch.zeros(1, 2)
        for _ in range(4):
            obs = torch.randn(1, 2)
            last = torch.tanh(obs + last)
            torch.testing.assert_close(manager({"policy/obs": obs})["policy/action"], last)

    def test_forward_consumer_too(self, bench: Workbench) -> None:
        """A value may be internal, external and fed back at once."""
        last = torch.zeros(2)
        with bench.trace():
            for _ in range(2):
                x, m = annotate.input_tensors("a", {"x": torch.ones(2), "m": last})
                last = annotate.output_tensors("a", {"y": x + 0.5 * m}, export_with="jit")
                z = annotate.input_tensors("b", {"z": last})
                annotate.output_tensors("b", {"w": z * 2}, export_with="jit")
        bench.compile()
        section = bench.yaml()["pipeline"]
        assert section["data_flow"] == {"a/y": ["b/z"]}
        assert section["feedback_flow"] == {"a/y": ["a/m"]}
        assert section["outputs"] == {"b": ["w"]}

    def test_one_tensor_to_two_inputs_of_a_node(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("a", {"x": torch.ones(2)})
            y = annotate.output_tensors("a", {"y": x * 3}, export_with=backend)
            p, q = annotate.input_tensors("b", {"p": y, "q": y})
            annotate.output_tensors("b", {"w": p * 10 + q}, export_with=backend)
        bench.compile()
        assert bench.yaml()["pipeline"]["data_flow"] == {"a/y": ["b/p", "b/q"]}
        assert torch.equal(bench.manager()({"a/x": torch.ones(2)})["b/w"], torch.full((2,), 33.0))

    def test_same_raw_tensor_to_two_inputs(self, bench: Workbench, backend: str) -> None:
        raw = torch.ones(2)
        with bench.trace():
            p, q = annotate.input_tensors("n", {"p": raw, "q": raw})
            annotate.output_tensors("n", {"w": p * 10 + q}, export_with=backend)
        bench.compile()
        result = bench.manager()({"n/p": torch.full((2,), 1.0), "n/q": torch.full((2,), 2.0)})
        assert torch.equal(result["n/w"], torch.full((2,), 12.0))

    @pytest.mark.parametrize(
        "keep",
        [
            lambda t, b: t.clone(),
            lambda t, b: t.detach(),
            lambda t, b: t.detach().cpu().contiguous(),
            lambda t, b: b.copy_(t),
            lambda t, b: (b.__setitem__(slice(None), t), b)[1],
        ],
        ids=["clone", "detach", "chain", "copy_", "slice"],
    )
    def test_feedback_survives_copies(self, bench: Workbench, keep: Any) -> None:
        buffer = torch.zeros(2)
        last = torch.zeros(2)
        with bench.trace():
            for _ in range(2):
                x, m = annotate.input_tensors("n", {"x": torch.ones(2), "m": last})
                y = annotate.output_tensors("n", {"y": x + 0.5 * m}, export_with="jit")
                last = keep(y, buffer)
        bench.compile()
        assert feedback(bench) == {"n/y": ["n/m"]}

    def test_three_nodes_with_crossing_feedback(self, bench: Workbench, backend: str) -> None:
        state_a, state_c = torch.zeros(2), torch.ones(2)

        def step(obs: torch.Tensor, sa: torch.Tensor, sc: torch.Tensor) -> tuple[Any, ...]:
            a = torch.tanh(obs + sa - sc)
            b = a * 2 + sa
            c = b - 0.5 * sc
            return a, b, c

        with bench.trace():
            for _ in range(3):
                obs, sa, sc = annotate.input_tensors(
                    "a", {"obs": torch.randn(2), "sa": state_a, "sc": state_c}
                )
                a = annotate.output_tensors(
                    "a", {"a": torch.tanh(obs + sa - sc)}, export_with=backend
                )
                x, sa = annotate.input_tensors("b", {"x": a, "sa": state_a})
                b = annotate.output_tensors("b", {"b": x * 2 + sa}, export_with=backend)
                y, sc = annotate.input_tensors("c", {"y": b, "sc": state_c})
                c = annotate.output_tensors("c", {"c": y - 0.5 * sc}, export_with=backend)
                state_a, state_c = b, c
        assert all(value is True for value in bench.compile().values())
        manager = bench.manager()
        sa, sc = torch.zeros(2), torch.ones(2)
        for _ in range(8):
            obs = torch.randn(2)
            _, sa, sc = step(obs, sa, sc)
            torch.testing.assert_close(manager({"a/obs": obs})["c/c"], sc, rtol=1e-4, atol=1e-5)


class TestMirror:
    def test_documents_example(self, bench: Workbench) -> None:
        class DataProcessor:
            def __init__(self) -> None:
                self._buffer = torch.zeros(10)

            @annotate.method(export_with="jit")
            def process(self, input_data: torch.Tensor) -> torch.Tensor:
                self._buffer[:] = input_data
                annotate.mirror_leapp_tags(input_data, self._buffer)
                return self._buffer * 2.0

        with bench.trace():
            DataProcessor().process(torch.randn(10))
        bench.compile()
        x = torch.randn(10)
        manager = bench.manager()
        (result,) = manager({"process/input_data": x}).values()
        torch.testing.assert_close(result, x * 2)

    def test_values_must_match(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with refused("LP116"):
            annotate.mirror_leapp_tags(x, torch.zeros(2))

    def test_shapes_must_match(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with refused("LP116"):
            annotate.mirror_leapp_tags(x, torch.ones(3))

    def test_wire_through_an_unseen_copy(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("a", {"x": torch.arange(3.0)})
            y = annotate.output_tensors("a", {"y": x * 2}, export_with="jit")
            copied = torch.tensor(y.tolist())
            annotate.mirror_leapp_tags(y, copied)
            z = annotate.input_tensors("b", {"z": copied})
            annotate.output_tensors("b", {"w": z + 1}, export_with="jit")
        bench.compile()
        assert bench.yaml()["pipeline"]["data_flow"] == {"a/y": ["b/z"]}


class TestReentryWiring:
    def test_fewer_inputs(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x, g = annotate.input_tensors("n", {"x": torch.ones(2), "g": torch.ones(2)})
        annotate.output_tensors("n", {"y": x + g}, export_with="jit")
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with refused("LP109"):
            annotate.output_tensors("n", {"y": x + 1}, export_with="jit")
            leapp.stop()
            leapp.compile_graph(visualize=False)

    def test_another_source(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))

        def sources() -> list[torch.Tensor]:
            outs = []
            for node in ("a", "b"):
                x = annotate.input_tensors(node, {"x": torch.ones(2)})
                outs.append(annotate.output_tensors(node, {"y": x * 2}, export_with="jit"))
            return outs

        def consume(value: torch.Tensor) -> None:
            z = annotate.input_tensors("c", {"z": value})
            annotate.output_tensors("c", {"w": z + 1}, export_with="jit")

        consume(sources()[0])
        with refused("LP109"):
            consume(sources()[1])
            leapp.stop()
            leapp.compile_graph(visualize=False)

    def test_gap_between_nodes_is_named(self, bench: Workbench) -> None:
        """Code between two nodes is exported and reported, with op and line."""
        with bench.trace():
            x = annotate.input_tensors("pre", {"x": torch.ones(2)})
            y = annotate.output_tensors("pre", {"features": x * 2}, export_with="jit")
            y = y * 3
            z = annotate.input_tensors("policy", {"obs": y})
            annotate.output_tensors("policy", {"w": z + 1}, export_with="jit")
        bench.compile()
        (said,) = [each for each in leapp.diagnostics() if each.code == "LP205"]
        assert said.node == "policy"
        assert "test_spec_feedback.py" in said.where
        for name in ("policy/obs", "pre/features", "aten::mul"):
            assert name in said.text
        assert bench.yaml()["pipeline"]["data_flow"] == {"pre/obs": ["policy/obs"]}
