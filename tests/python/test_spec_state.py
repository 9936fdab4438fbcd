"""State and feedback: declared, held by a module, written in place, inferred between nodes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import Workbench
from safetensors.torch import load_file
from torch import nn

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
    """How a state's port is spelled: ONNX has one namespace for both sides."""
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

    def test_update_returns_what_it_was_given(self, bench: Workbench) -> None:
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
        with pytest.raises(Exception, match=r"Call annotate\.input_tensors\(\) first"):
            annotate.state_tensors("n", {"h": torch.zeros(2)})

    def test_nested_state(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(TypeError, match="does not support nested state structures"):
            annotate.state_tensors("n", {"h": {"a": torch.zeros(2)}})

    def opened(self, bench: Workbench) -> tuple[torch.Tensor, torch.Tensor]:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        return x, annotate.state_tensors("n", {"h": torch.zeros(2)})

    def test_unknown_state(self, bench: Workbench) -> None:
        x, h = self.opened(bench)
        with pytest.raises(Exception, match="was not registered as a state tensor"):
            annotate.update_state("n", {"g": h + x})

    def test_other_shape(self, bench: Workbench) -> None:
        x, h = self.opened(bench)
        with pytest.raises(Exception, match="has shape"):
            annotate.update_state("n", {"h": torch.cat([h, x])})

    def test_other_dtype(self, bench: Workbench) -> None:
        x, h = self.opened(bench)
        with pytest.raises(Exception, match="has dtype"):
            annotate.update_state("n", {"h": (h + x).double()})

    def test_state_shares_its_name_with_an_input(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(Exception, match="Duplicate i/o name"):
            annotate.state_tensors("n", {"x": torch.zeros(2)})

    def test_output_shares_its_name_with_a_state(self, bench: Workbench) -> None:
        x, h = self.opened(bench)
        annotate.update_state("n", {"h": h + x})
        with pytest.raises(Exception, match="h"):
            annotate.output_tensors("n", {"h": h * 2}, export_with="jit")


class GRUPolicy(nn.Module):
    """The documents' recurrent policy."""

    def __init__(self, obs_dim: int = 16, hidden_dim: int = 32, action_dim: int = 8) -> None:
        super().__init__()
        self.gru = nn.GRU(obs_dim, hidden_dim)
        self.mlp = nn.Sequential(nn.Linear(hidden_dim, 32), nn.ELU(), nn.Linear(32, action_dim))
        self.register_buffer("h_state", torch.zeros(1, 1, hidden_dim))
        self.h_state: torch.Tensor

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.h_state = self.gru(obs.unsqueeze(0), self.h_state)
        action: torch.Tensor = self.mlp(out.squeeze(0))
        return action


class Counter(nn.Module):
    """Counts, one way or the other, and multiplies with a constant buffer."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("gain", torch.full((1,), 3.0))
        self.count: torch.Tensor
        self.gain: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.how == "reassign":
            self.count = self.count + x.mean()
        elif self.how == "copy_":
            self.count.copy_(self.count + x.mean())
        elif self.how == "slice":
            self.count[:] = self.count + x.mean()
        else:
            self.count += x.mean()
        return x * self.gain + self.count


ways = pytest.mark.parametrize("how", ["reassign", "copy_", "slice", "add"])


class TestModule:
    def trace(self, bench: Workbench, model: nn.Module, x: torch.Tensor, backend: str) -> None:
        with bench.trace(), torch.no_grad():
            traced = annotate.input_tensors("n", {"x": x})
            annotate.module("n", model)
            annotate.output_tensors("n", {"y": model(traced)}, export_with=backend)

    @pytest.mark.parametrize("backend", ["jit", "onnx", "onnx-torchscript"])
    def test_documents_gru(self, bench: Workbench, backend: str) -> None:
        torch.manual_seed(1)
        model, twin = GRUPolicy().eval(), GRUPolicy().eval()
        twin.load_state_dict(model.state_dict())
        with bench.trace("stateful_gru"), torch.no_grad():
            obs = annotate.input_tensors("policy", {"obs": torch.randn(1, 16)})
            annotate.module("policy", model)
            annotate.output_tensors("policy", {"action": model(obs)}, export_with=backend)
        assert bench.compile() == {"policy": True}
        section = bench.yaml("stateful_gru")["pipeline"]
        kind = "jit" if backend == "jit" else "onnx"
        assert section["feedback_flow"] == {
            f"policy/h_state{suffix(kind, 'out')}": [f"policy/h_state{suffix(kind, 'in')}"]
        }
        manager = bench.manager("stateful_gru")
        with torch.no_grad():
            for _ in range(5):
                obs = torch.randn(1, 16)
                result = manager({"policy/obs": obs})["policy/action"]
                torch.testing.assert_close(result, twin(obs), rtol=1e-4, atol=1e-5)

    @ways
    def test_written_buffer_is_state(self, bench: Workbench, how: str, backend: str) -> None:
        model, twin = Counter(how), Counter(how)
        self.trace(bench, model, torch.ones(2), backend)
        assert bench.compile() == {"n": True}
        assert feedback(bench) == {
            f"n/count{suffix(backend, 'out')}": [f"n/count{suffix(backend, 'in')}"]
        }
        manager = bench.manager()
        for _ in range(4):
            x = torch.randn(2)
            torch.testing.assert_close(manager({"n/x": x})["n/y"], twin(x))

    @ways
    def test_initial_value_is_from_before_the_write(self, bench: Workbench, how: str) -> None:
        self.trace(bench, Counter(how), torch.ones(2), "jit")
        bench.compile()
        assert torch.equal(initial_values(bench)["n/count"], torch.zeros(1))

    def test_unwritten_buffer_is_a_constant(self, bench: Workbench, backend: str) -> None:
        self.trace(bench, Counter("reassign"), torch.ones(2), backend)
        bench.compile()
        names = [port["name"] for port in bench.yaml()["models"]["n"]["inputs"]]
        assert not [name for name in names if name.startswith("gain")]

    @ways
    def test_module_holds_plain_buffers_afterwards(self, bench: Workbench, how: str) -> None:
        model = Counter(how)
        self.trace(bench, model, torch.ones(2), "jit")
        assert isinstance(model.count, torch.Tensor)
        assert "count" in dict(model.named_buffers())
        assert torch.equal(torch.as_tensor(model.count).detach().clone(), torch.ones(1))
        torch.save(model.state_dict(), bench.path("state.pt"))

    def test_module_is_restored_after_an_exception(self, bench: Workbench) -> None:
        model = Counter("reassign")
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.module("n", model)
        with pytest.raises(RuntimeError):
            model(x) @ torch.ones(7, 3)
        leapp.start("g", save_path=str(bench.folder))
        leapp.stop()
        assert type(model.gain) is torch.Tensor
        assert torch.equal(model.gain, torch.full((1,), 3.0))

    def test_buffer_names_restrict(self, bench: Workbench) -> None:
        model = Counter("reassign")
        with bench.trace(), torch.no_grad():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.module("n", model, buffer_names=["count"])
            annotate.output_tensors("n", {"y": model(x)}, export_with="jit")
        bench.compile()
        assert feedback(bench) == {"n/count": ["n/count"]}

    def test_unknown_buffer_name(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(Exception, match="nonsense"):
            annotate.module("n", Counter("reassign"), buffer_names=["nonsense"])

    def test_nested_buffer_names_get_underscores(self, bench: Workbench) -> None:
        model = nn.Sequential(Counter("reassign"))
        self.trace(bench, model, torch.ones(2), "jit")
        bench.compile()
        assert feedback(bench) == {"n/0_count": ["n/0_count"]}

    def test_nested_buffer_of_a_named_child(self, bench: Workbench) -> None:
        class Parent(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.child = Counter("reassign")

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                result: torch.Tensor = self.child(x)
                return result

        self.trace(bench, Parent(), torch.ones(2), "jit")
        bench.compile()
        assert feedback(bench) == {"n/child_count": ["n/child_count"]}

    @ways
    def test_many_passes_validate(self, bench: Workbench, how: str) -> None:
        model, twin = Counter(how), Counter(how)
        with bench.trace(), torch.no_grad():
            for tick in range(4):
                x = annotate.input_tensors("n", {"x": torch.full((2,), float(tick + 1))})
                annotate.module("n", model)
                y = annotate.output_tensors("n", {"y": model(x)}, export_with="jit")
                torch.testing.assert_close(
                    torch.as_tensor(y), twin(torch.full((2,), float(tick + 1)))
                )
        assert bench.compile() == {"n": True}

    def test_written_before_read_is_no_state(self, bench: Workbench) -> None:
        class Scratch(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("tmp", torch.zeros(2))
                self.tmp: torch.Tensor

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                self.tmp.copy_(x)
                return self.tmp * 2

        self.trace(bench, Scratch(), torch.ones(2), "jit")
        bench.compile()
        names = [port["name"] for port in bench.yaml()["models"]["n"]["inputs"]]
        assert names == ["x"]
        x = torch.randn(2)
        torch.testing.assert_close(bench.manager()({"n/x": x})["n/y"], x * 2)

    def test_module_before_inputs(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(Exception, match=r"input_tensors"):
            annotate.module("n", Counter("reassign"))

    def test_plain_attribute_is_not_tracked_in_silence(self, bench: Workbench) -> None:
        class Plain(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.hidden = torch.zeros(2)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                self.hidden = self.hidden + x
                return self.hidden * 2

        model = Plain()
        with bench.trace(), torch.no_grad():
            for tick in range(3):
                x = annotate.input_tensors("n", {"x": torch.full((2,), tick + 1.0)})
                annotate.module("n", model)
                annotate.output_tensors("n", {"y": model(x)}, export_with="jit")
        result = bench.compile(strict=False)
        if result != {"n": True}:
            return  # named by the validation
        twin = Plain()
        manager = bench.manager()
        for _ in range(3):
            x = torch.randn(2)
            torch.testing.assert_close(manager({"n/x": x})["n/y"], twin(x))


class TestRegisterBuffer:
    def step(self, buffer: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        buffer[1:] = buffer[:-1].clone()
        buffer[0] = x
        return buffer.sum(0)

    def test_single(self, bench: Workbench) -> None:
        buffer = torch.zeros(3, 2)
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            handle = annotate.register_buffer("n", buffer)
            annotate.output_tensors("n", {"y": self.step(handle, x)}, export_with="jit")
        bench.compile()
        assert len(feedback(bench)) == 1
        manager = bench.manager()
        twin = torch.zeros(3, 2)
        for _ in range(5):
            x = torch.randn(2)
            torch.testing.assert_close(manager({"n/x": x})["n/y"], self.step(twin, x))

    def test_list_names(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            a, b = annotate.register_buffer("n", [torch.zeros(3, 2), torch.zeros(3, 2)])
            y = self.step(a, x) + self.step(b, x * 2)
            annotate.output_tensors("n", {"y": y}, export_with="jit")
        bench.compile()
        assert feedback(bench) == {"n/buffer_0": ["n/buffer_0"], "n/buffer_1": ["n/buffer_1"]}

    def test_dict_names(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            handle = annotate.register_buffer("n", {"history": torch.zeros(3, 2)})
            annotate.output_tensors("n", {"y": self.step(handle, x)}, export_with="jit")
        bench.compile()
        assert feedback(bench) == {"n/history": ["n/history"]}


class TestUndeclared:
    """An in-place write to memory that outlives the node is state, declared or not."""

    def test_in_place_write(self, bench: Workbench, backend: str) -> None:
        buffer, twin = torch.zeros(3, 2), torch.zeros(3, 2)

        def step(memory: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            memory[1:] = memory[:-1].clone()
            memory[0] = x
            return memory.sum(0)

        with bench.trace():
            for tick in range(2):
                x = annotate.input_tensors("n", {"x": torch.ones(2) * tick})
                annotate.output_tensors("n", {"y": step(buffer, x)}, export_with=backend)
        assert bench.compile() == {"n": True}
        assert len(feedback(bench)) == 1
        manager = bench.manager()
        for _ in range(5):
            x = torch.randn(2)
            torch.testing.assert_close(manager({"n/x": x})["n/y"], step(twin, x))

    def test_it_is_said_in_the_log(self, bench: Workbench) -> None:
        model = Counter("copy_")
        with bench.trace(), torch.no_grad():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": model(x)}, export_with="jit")
        bench.compile()
        (target,) = next(iter(feedback(bench).values()))
        assert target.split("/")[1] in bench.log()


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
        with pytest.raises(Exception, match="source and target do not match"):
            annotate.mirror_leapp_tags(x, torch.zeros(2))

    def test_shapes_must_match(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(Exception, match=r"do not match|shape"):
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
        with pytest.raises(Exception, match="Reentering n with new i/o"):
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
        with pytest.raises(Exception, match="c"):
            consume(sources()[1])
            leapp.stop()
            leapp.compile_graph(visualize=False)

    def test_gap_between_nodes_is_named(self, bench: Workbench) -> None:
        """Code between two nodes that belongs to none is taken in and said, with op and line."""
        with bench.trace():
            x = annotate.input_tensors("pre", {"x": torch.ones(2)})
            y = annotate.output_tensors("pre", {"features": x * 2}, export_with="jit")
            y = y * 3
            z = annotate.input_tensors("policy", {"obs": y})
            annotate.output_tensors("policy", {"w": z + 1}, export_with="jit")
        bench.compile()
        log = bench.log()
        assert "policy/obs" in log
        assert "pre/features" in log
        assert "mul" in log
        assert "test_spec_state.py" in log
        assert bench.yaml()["pipeline"]["data_flow"] == {"pre/obs": ["policy/obs"]}
