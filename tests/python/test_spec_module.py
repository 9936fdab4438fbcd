"""State of a module or a buffer, declared or inferred."""

from __future__ import annotations

import pytest
import torch
from conftest import Workbench, refused
from test_spec_state import feedback, initial_values, suffix
from torch import nn

import leapp
from leapp import annotate


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
        with refused("LP003", "nonsense"):
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

    def test_written_before_read_is_not_state(self, bench: Workbench) -> None:
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
        with refused("LP105"):
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
            return  # the validation names it
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

    def test_it_is_in_the_log(self, bench: Workbench) -> None:
        model = Counter("copy_")
        with bench.trace(), torch.no_grad():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": model(x)}, export_with="jit")
        bench.compile()
        (target,) = next(iter(feedback(bench).values()))
        assert target.split("/")[1] in bench.log()
