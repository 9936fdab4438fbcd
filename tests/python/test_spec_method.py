"""annotate.method: names of nodes and ports, all kinds of arguments, and code inside."""

from __future__ import annotations

import pytest
import torch
from conftest import Workbench, ports
from torch import nn

import leapp
from leapp import annotate


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

    def test_self_is_not_an_input(self, bench: Workbench) -> None:
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
            """Return the same value."""
            return x

        assert documented.__name__ == "documented"
        assert documented.__doc__ == "Return the same value."

    def test_exception_in_the_method_reaches_the_caller(self, bench: Workbench) -> None:
        @annotate.method(export_with="jit")
        def f(x: torch.Tensor) -> torch.Tensor:
            raise KeyError("mine")

        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(KeyError, match="mine"):
            f(torch.ones(2))
