"""State and feedback: declared, in a module, written in place, inferred between nodes."""

from __future__ import annotations

import torch
from conftest import Workbench, refused
from safetensors.torch import load_file

import leapp
from leapp import annotate


def feedback(bench: Workbench) -> dict[str, list[str]]:
    flow: dict[str, list[str]] = bench.yaml()["pipeline"]["feedback_flow"]
    return flow


def initial_values(bench: Workbench) -> dict[str, torch.Tensor]:
    result: dict[str, torch.Tensor] = load_file(
        str(bench.path("g", "g_initial_values.safetensors"))
    )
    return result


def suffix(backend: str, side: str) -> str:
    """Return the port name of a state: ONNX has one namespace for inputs and outputs."""
    return f"_{side}" if backend == "onnx" else ""


class TestDeclaredState:
    def test_documents_example(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            obs = annotate.input_tensors("policy", {"obs": torch.randn(1, 16)})
            hidden = annotate.state_tensors("policy", {"hidden": torch.zeros(1, 32)})
            following = torch.tanh(torch.cat([obs, hidden], dim=-1))[..., :32]
            annotate.update_state("policy", {"hidden": following})
            annotate.output_tensors(
                "policy", {"action": torch.tanh(following)}, export_with=backend
            )
        assert bench.compile() == {"policy": True}
        assert feedback(bench) == {
            f"policy/hidden{suffix(backend, 'out')}": [f"policy/hidden{suffix(backend, 'in')}"]
        }
        manager = bench.manager()
        assert manager.inputs == ["policy/obs"]
        assert manager.outputs == ["policy/action"]
        hidden = torch.zeros(1, 32)
        for _ in range(5):
            obs = torch.randn(1, 16)
            hidden = torch.tanh(torch.cat([obs, hidden], dim=-1))[..., :32]
            action = manager({"policy/obs": obs})["policy/action"]
            torch.testing.assert_close(action, torch.tanh(hidden), rtol=1e-4, atol=1e-5)

    def test_one_state_returns_the_bare_tensor(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"x": torch.ones(2)})
        assert isinstance(annotate.state_tensors("n", {"h": torch.zeros(2)}), torch.Tensor)

    def test_many_states_return_a_tuple_in_order(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            h, c = annotate.state_tensors("n", {"h": torch.zeros(2), "c": torch.zeros(3)})
            assert (h.shape[0], c.shape[0]) == (2, 3)
            back = annotate.update_state("n", {"h": h + x, "c": c + 1})
            assert isinstance(back, tuple)
            assert len(back) == 2
            annotate.output_tensors("n", {"y": h.sum() + c.sum()}, export_with="jit")
        bench.compile()
        assert feedback(bench) == {"n/h": ["n/h"], "n/c": ["n/c"]}

    def test_update_returns_its_argument(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        h = annotate.state_tensors("n", {"h": torch.zeros(2)})
        new = h + x
        assert torch.equal(annotate.update_state("n", {"h": new}), new)

    def test_state_never_updated_is_a_plain_input(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            h = annotate.state_tensors("n", {"h": torch.zeros(2)})
            annotate.output_tensors("n", {"y": x + h}, export_with=backend)
        bench.compile()
        assert feedback(bench) == {}
        assert bench.manager().inputs == ["n/x", "n/h"]

    def test_one_pass_is_enough(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            h = annotate.state_tensors("n", {"h": torch.zeros(2)})
            annotate.update_state("n", {"h": h + x})
            annotate.output_tensors("n", {"y": h + x}, export_with="jit")
        bench.compile()
        assert feedback(bench) == {"n/h": ["n/h"]}

    def test_initial_value_is_that_of_the_first_pass(self, bench: Workbench) -> None:
        h0 = torch.tensor([3.0, 4.0])
        h = h0
        with bench.trace():
            for _ in range(3):
                x = annotate.input_tensors("n", {"x": torch.ones(2)})
                h = annotate.state_tensors("n", {"h": h})
                h = h + x
                annotate.update_state("n", {"h": h})
                annotate.output_tensors("n", {"y": h * 2}, export_with="jit")
        bench.compile()
        assert torch.equal(initial_values(bench)["n/h"], h0)
        assert torch.equal(
            bench.manager()({"n/x": torch.ones(2)})["n/y"], torch.tensor([8.0, 10.0])
        )

    def test_state_output_only(self, bench: Workbench, backend: str) -> None:
        """The updated state itself may also be an output, under another name."""
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            h = annotate.state_tensors("n", {"h": torch.zeros(2)})
            new = annotate.update_state("n", {"h": h + x})
            annotate.output_tensors("n", {"y": new}, export_with=backend)
        bench.compile()
        manager = bench.manager()
        for tick in range(1, 4):
            assert torch.equal(
                manager({"n/x": torch.ones(2)})["n/y"], torch.full((2,), float(tick))
            )

    def test_ports_of_a_state(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            h = annotate.state_tensors("n", {"h": torch.zeros(2, 3)})
            annotate.update_state("n", {"h": h + x[:, None]})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        bench.compile()
        model = bench.yaml()["models"]["n"]
        assert [p["name"] for p in model["inputs"]] == ["x", "h"]
        assert model["outputs"][-1]["name"] == "h"
        assert model["outputs"][-1]["shape"] == [2, 3]


class TestStateErrors:
    def test_state_before_inputs(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with refused("LP105"):
            annotate.state_tensors("n", {"h": torch.zeros(2)})

    def test_nested_state(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"x": torch.ones(2)})
        with refused("LP120"):
            annotate.state_tensors("n", {"h": {"a": torch.zeros(2)}})

    def opened(self, bench: Workbench) -> tuple[torch.Tensor, torch.Tensor]:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        return x, annotate.state_tensors("n", {"h": torch.zeros(2)})

    def test_unknown_state(self, bench: Workbench) -> None:
        x, h = self.opened(bench)
        with refused("LP114"):
            annotate.update_state("n", {"g": h + x})

    def test_other_shape(self, bench: Workbench) -> None:
        x, h = self.opened(bench)
        with refused("LP115"):
            annotate.update_state("n", {"h": torch.cat([h, x])})

    def test_other_dtype(self, bench: Workbench) -> None:
        x, h = self.opened(bench)
        with refused("LP115"):
            annotate.update_state("n", {"h": (h + x).double()})

    def test_state_shares_its_name_with_an_input(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"x": torch.ones(2)})
        with refused("LP108"):
            annotate.state_tensors("n", {"x": torch.zeros(2)})

    def test_output_shares_its_name_with_a_state(self, bench: Workbench) -> None:
        x, h = self.opened(bench)
        annotate.update_state("n", {"h": h + x})
        with refused("LP108", "'h'"):
            annotate.output_tensors("n", {"h": h * 2}, export_with="jit")
