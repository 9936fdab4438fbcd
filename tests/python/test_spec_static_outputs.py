"""Static outputs: constants that a node returns in addition to computed outputs."""

from __future__ import annotations

import pytest
import torch
from conftest import Workbench, ports, refused

import leapp
from leapp import TensorSemantics, annotate


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
        with refused("LP112"):
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
        with refused("LP108", "'y'"):
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


def test_static_output_feeds_a_node(bench: Workbench, backend: str) -> None:
    gains = torch.tensor([2.0, 3.0])
    with bench.trace():
        x = annotate.input_tensors("a", {"x": torch.ones(2)})
        annotate.output_tensors(
            "a", {"y": x + 1}, static_outputs={"gains": gains}, export_with=backend
        )
        y, g = annotate.input_tensors("b", {"y": torch.ones(2), "g": gains})
        annotate.output_tensors("b", {"w": y * g}, export_with=backend)
    bench.compile()
    assert bench.yaml()["pipeline"]["data_flow"].get("a/gains") == ["b/g"]
    manager = bench.manager()
    result = manager({"a/x": torch.ones(2), "b/y": torch.full((2,), 5.0)})
    assert torch.equal(result["b/w"], torch.tensor([10.0, 15.0]))
