"""Programs written for NVIDIA's leapp: running a bundle node by node, and again after a reset."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from affine_stage import affine, stage
from conftest import Workbench, refused

from leapp import annotate


class TestNodesOfAManager:
    @pytest.fixture(params=["jit", "onnx", "pt2"])
    def bundle(self, bench: Workbench, request: pytest.FixtureRequest) -> Workbench:
        with bench.trace():
            x = annotate.input_tensors("one", {"x": torch.randn(2)})
            x = annotate.output_tensors("one", {"y": affine(x)}, export_with=request.param)
            inputs = {"x": x, "count": torch.ones(3, dtype=torch.int64)}
            x, count = annotate.input_tensors("two", inputs)
            outputs = {"sum": x.sum(), "count": count + 1}
            annotate.output_tensors("two", outputs, export_with=request.param)
        bench.compile()
        return bench

    def test_have_shapes_and_types(self, bundle: Workbench) -> None:
        node = bundle.manager().nodes["two"]
        assert node.device == "cpu"
        assert [name.removesuffix("_in") for name in node.input_names] == ["x", "count"]
        assert (node.input_shapes, node.input_dtypes) == ([[2], [3]], ["float32", "int64"])
        assert [name.removesuffix("_out") for name in node.output_names] == ["sum", "count"]
        assert (node.output_shapes, node.output_dtypes) == ([[], [3]], ["float32", "int64"])

    def test_mock_values_are_zeros_by_name(self, bundle: Workbench) -> None:
        node = bundle.manager().nodes["two"]
        mock, result = node.mock_input, node.mock_output
        assert (list(mock), list(result)) == (node.input_names, node.output_names)
        for value, shape, dtype in zip(
            [*mock.values(), *result.values()],
            node.input_shapes + node.output_shapes,
            node.input_dtypes + node.output_dtypes,
            strict=True,
        ):
            assert torch.equal(value, torch.zeros(shape, dtype=getattr(torch, dtype)))

    def test_can_be_called(self, bundle: Workbench) -> None:
        manager = bundle.manager()
        x = torch.randn(2)
        result = manager.nodes["one"](x)
        assert torch.equal(result, affine(x))
        total, count = manager.nodes["two"](result, torch.zeros(3, dtype=torch.int64))
        torch.testing.assert_close(total, affine(x).sum())
        assert count.tolist() == [1, 1, 1]
        assert callable(manager.nodes["two"].model)

    def test_leave_the_pipeline_alone(self, bundle: Workbench) -> None:
        manager = bundle.manager()
        before = manager.value_dict["one"]["x"]
        manager.nodes["one"](torch.ones(2))
        assert torch.equal(manager.value_dict["one"]["x"], before)

    def test_want_all_their_inputs(self, bundle: Workbench) -> None:
        node = bundle.manager().nodes["two"]
        with refused("LP003"):
            node(torch.zeros(2))
        with refused("LP602", "two/x"):
            node(torch.zeros(2, dtype=torch.int64), torch.zeros(3, dtype=torch.int64))

    def test_arrays_of_numpy(self, bundle: Workbench) -> None:
        node = bundle.manager(array="numpy").nodes["one"]
        assert isinstance(node.mock_input["x"], np.ndarray)
        assert node(np.ones(2, np.float32)).tolist() == [3, 3]

    def test_without_a_model(self, bench: Workbench) -> None:
        with bench.trace():
            stage(torch.ones(2), export_with=None)
        bench.compile()
        node = bench.manager().nodes["n"]
        assert node.model is None
        assert node.input_names == ["x"]
        with refused("LP403", "'n'"):
            node(torch.ones(2))


class TestReset:
    def test_inputs_are_zero_until_they_are_set(self, bench: Workbench, backend: str) -> None:
        with bench.trace():
            stage(torch.ones(2), export_with=backend)
        bench.compile()
        manager = bench.manager()
        manager.set_input_value("n", "x", torch.ones(2))
        manager({})
        manager.reset()
        assert manager.value_dict["n"]["x"].tolist() == [0, 0]
        with refused("LP604", "n/x"):
            manager({})
        assert manager({"n/x": torch.ones(2)})["n/y"].tolist() == [3, 3]
        assert manager.value_dict["n"]["x"].tolist() == [1, 1]

    def test_memory_of_the_callers_is_left_alone(self, bench: Workbench) -> None:
        with bench.trace():
            stage(torch.ones(2), export_with="onnx")
        bench.compile()
        manager, mine = bench.manager(), torch.ones(2)
        manager.bind_input("n/x", mine)
        manager.reset()
        manager.tick()
        assert mine.tolist() == [1, 1]
        assert manager.value_dict["n"]["y"].tolist() == [3, 3]
