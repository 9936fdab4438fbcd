"""InferenceManager: its properties, running, and resetting."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
from conftest import Workbench
from pair_pipeline import Reference

from leapp import InferenceManager, annotate


class TestSurface:
    def test_inputs(self, pair: Workbench) -> None:
        assert pair.manager().inputs == ["pre/obs"]

    def test_outputs(self, pair: Workbench) -> None:
        assert pair.manager().outputs == ["policy/action"]

    def test_feedback_inputs(self, pair: Workbench, backend: str) -> None:
        h = "policy/h" if backend == "jit" else "policy/h_in"
        assert sorted(pair.manager().feedback_inputs) == sorted(["pre/prev", h])

    def test_lists(self, pair: Workbench) -> None:
        manager = pair.manager()
        for name in ("inputs", "outputs", "feedback_inputs"):
            assert isinstance(getattr(manager, name), list)

    @pytest.mark.parametrize("name", ["value_dict", "nodes", "pipeline", "models", "system_info"])
    def test_has(self, jit_pair: Workbench, name: str) -> None:
        assert hasattr(jit_pair.manager(), name)

    def test_nodes_by_name(self, jit_pair: Workbench) -> None:
        manager = jit_pair.manager()
        assert manager.nodes["pre"] is not None
        assert manager.nodes["policy"] is not None

    def test_sections(self, jit_pair: Workbench) -> None:
        manager = jit_pair.manager()
        document = jit_pair.yaml()
        assert dict(manager.pipeline)["data_flow"] == document["pipeline"]["data_flow"]
        assert list(manager.models) == ["pre", "policy"]
        assert manager.system_info["leapp config version"] == "1.3"

    def test_path_object(self, jit_pair: Workbench) -> None:
        manager = InferenceManager(jit_pair.path("g", "g.yaml"))  # type: ignore[arg-type]
        assert manager.inputs == ["pre/obs"]


class TestRun:
    def test_run_policy(self, pair: Workbench) -> None:
        manager, reference = pair.manager(), Reference()
        for _ in range(10):
            obs = torch.randn(1, 3)
            outputs = manager.run_policy({"pre/obs": obs})
            assert set(outputs) == {"policy/action"}
            torch.testing.assert_close(
                outputs["policy/action"], reference(obs), rtol=1e-4, atol=1e-5
            )

    def test_call_is_run_policy(self, pair: Workbench) -> None:
        manager, reference = pair.manager(), Reference()
        obs = torch.randn(1, 3)
        torch.testing.assert_close(manager({"pre/obs": obs})["policy/action"], reference(obs))

    def test_mock_input(self, pair: Workbench) -> None:
        manager = pair.manager()
        mock = manager.get_mock_input()
        assert list(mock) == ["pre/obs"]
        assert mock["pre/obs"].shape == (1, 3)
        assert mock["pre/obs"].dtype == torch.float32
        assert set(manager(mock)) == {"policy/action"}

    @pytest.mark.parametrize(
        "dtype",
        [
            torch.float16,
            torch.float64,
            torch.int8,
            torch.int32,
            torch.int64,
            torch.uint8,
            torch.bool,
        ],
        ids=str,
    )
    def test_mock_input_of_every_dtype(self, bench: Workbench, dtype: torch.dtype) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(3, dtype=dtype)})
            annotate.output_tensors("n", {"y": torch.cat([x, x])}, export_with="jit")
        bench.compile()
        manager = bench.manager()
        mock = manager.get_mock_input()
        assert mock["n/x"].dtype == dtype
        manager(mock)

    def test_mock_input_is_in_the_order_of_the_inputs(self, bench: Workbench) -> None:
        with bench.trace():
            z, a = annotate.input_tensors("n", {"z": torch.ones(2), "a": torch.ones(2)})
            annotate.output_tensors("n", {"y": z - a}, export_with="jit")
        bench.compile()
        manager = bench.manager()
        assert list(manager.get_mock_input()) == manager.inputs == ["n/z", "n/a"]

    def test_value_dict(self, pair: Workbench) -> None:
        manager = pair.manager()
        obs = torch.randn(1, 3)
        outputs = manager({"pre/obs": obs})
        values = manager.value_dict
        torch.testing.assert_close(torch.as_tensor(values["pre"]["obs"]), obs)
        torch.testing.assert_close(torch.as_tensor(values["pre"]["prev"]), outputs["policy/action"])

    def test_state_persists_between_calls(self, pair: Workbench) -> None:
        manager = pair.manager()
        obs = torch.ones(1, 3)
        first = manager({"pre/obs": obs})["policy/action"].clone()
        second = manager({"pre/obs": obs})["policy/action"]
        assert not torch.equal(first, second)

    def test_managers_do_not_share_state(self, pair: Workbench) -> None:
        one, two = pair.manager(), pair.manager()
        obs = torch.ones(1, 3)
        first = one({"pre/obs": obs})["policy/action"].clone()
        one({"pre/obs": obs})
        assert torch.equal(two({"pre/obs": obs})["policy/action"], first)

    def test_reset(self, pair: Workbench) -> None:
        manager = pair.manager()
        obs = torch.ones(1, 3)
        first = manager({"pre/obs": obs})["policy/action"].clone()
        manager({"pre/obs": obs})
        manager.reset()
        assert torch.equal(manager({"pre/obs": obs})["policy/action"], first)

    def test_set_input_value(self, pair: Workbench) -> None:
        manager = pair.manager()
        manager.set_input_value("pre", "prev", torch.ones(1, 3))
        result = manager({"pre/obs": torch.zeros(1, 3)})["policy/action"]
        torch.testing.assert_close(result, 2 * torch.tanh(torch.full((1, 3), 0.5)))

    def test_set_input_value_of_state(self, pair: Workbench, backend: str) -> None:
        manager = pair.manager()
        manager.set_input_value("policy", "h" if backend == "jit" else "h_in", torch.ones(1, 3))
        result = manager({"pre/obs": torch.zeros(1, 3)})["policy/action"]
        torch.testing.assert_close(result, 2 * torch.tanh(torch.ones(1, 3)))

    def test_inputs_are_not_changed(self, pair: Workbench) -> None:
        obs = torch.ones(1, 3)
        pair.manager()({"pre/obs": obs})
        assert torch.equal(obs, torch.ones(1, 3))

    def test_outputs_are_the_callers_to_keep(self, pair: Workbench) -> None:
        manager = pair.manager()
        first = manager({"pre/obs": torch.ones(1, 3)})["policy/action"]
        kept = first.clone()
        manager({"pre/obs": torch.ones(1, 3) * 5})
        assert torch.equal(first, kept)

    def test_writing_to_an_output_does_not_reach_the_state(self, pair: Workbench) -> None:
        manager, twin = pair.manager(), pair.manager()
        obs = torch.ones(1, 3)
        manager({"pre/obs": obs})["policy/action"].fill_(99.0)
        twin({"pre/obs": obs})
        torch.testing.assert_close(
            manager({"pre/obs": obs})["policy/action"], twin({"pre/obs": obs})["policy/action"]
        )

    def test_reset_never_touches_the_callers_memory(self, pair: Workbench) -> None:
        manager = pair.manager()
        mine = torch.full((1, 3), 7.0)
        manager.set_input_value("pre", "prev", mine)
        obs = torch.ones(1, 3)
        out = manager({"pre/obs": obs})["policy/action"]
        kept = out.clone()
        manager.reset()
        assert torch.equal(mine, torch.full((1, 3), 7.0))
        assert torch.equal(obs, torch.ones(1, 3))
        assert torch.equal(out, kept)

    def test_non_contiguous_input(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.randn(3, 2)})
            annotate.output_tensors("n", {"y": x * 2}, export_with=backend)
        bench.compile()
        x = torch.randn(2, 3).t()
        torch.testing.assert_close(bench.manager()({"n/x": x})["n/y"], x * 2)

    def test_input_that_requires_grad(self, pair: Workbench) -> None:
        obs = torch.ones(1, 3, requires_grad=True)
        result = pair.manager()({"pre/obs": obs})["policy/action"]
        assert result.shape == (1, 3)

    def test_moved_bundle(self, pair: Workbench) -> None:
        shutil.move(pair.path("g"), pair.path("elsewhere"))
        manager = InferenceManager(str(pair.path("elsewhere", "g.yaml")))
        manager(manager.get_mock_input())

    def test_many_ticks(self, pair: Workbench) -> None:
        manager, reference = pair.manager(), Reference()
        for _ in range(100):
            obs = torch.randn(1, 3)
            torch.testing.assert_close(
                manager({"pre/obs": obs})["policy/action"], reference(obs), rtol=1e-3, atol=1e-4
            )

    def test_numpy_arrays_in(self, pair: Workbench) -> None:
        result = pair.manager()({"pre/obs": np.zeros((1, 3), dtype=np.float32)})
        assert np.asarray(result["policy/action"]).shape == (1, 3)


class TestRollBack:
    def test_state_and_set_state(self, pair: Workbench) -> None:
        manager = pair.manager()
        obs = torch.ones(1, 3)
        manager({"pre/obs": obs})
        kept = manager.state()
        first = manager({"pre/obs": obs})["policy/action"].clone()
        manager({"pre/obs": obs})
        manager.set_state(kept)
        assert torch.equal(manager({"pre/obs": obs})["policy/action"], first)
