"""InferenceManager: what it shows, how it runs, how it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from conftest import Workbench

from leapp import InferenceManager, annotate


def export_pair(bench: Workbench, backend: str = "jit") -> None:
    """``pre`` -> ``policy`` with a state and a fed-back action."""
    last = torch.zeros(1, 3)
    h = torch.zeros(1, 3)
    with bench.trace():
        for _ in range(2):
            obs, prev = annotate.input_tensors("pre", {"obs": torch.randn(1, 3), "prev": last})
            mixed = annotate.output_tensors("pre", {"mixed": obs + 0.5 * prev}, export_with=backend)
            x = annotate.input_tensors("policy", {"x": mixed})
            h = annotate.state_tensors("policy", {"h": h})
            h = torch.tanh(h + x)
            annotate.update_state("policy", {"h": h})
            last = annotate.output_tensors("policy", {"action": h * 2}, export_with=backend)
    bench.compile()


class Reference:
    """The same pipeline in plain PyTorch."""

    def __init__(self) -> None:
        self.last, self.h = torch.zeros(1, 3), torch.zeros(1, 3)

    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        self.h = torch.tanh(self.h + obs + 0.5 * self.last)
        self.last = self.h * 2
        return self.last


@pytest.fixture
def pair(bench: Workbench, backend: str) -> Workbench:
    export_pair(bench, backend)
    return bench


@pytest.fixture
def jit_pair(bench: Workbench) -> Workbench:
    export_pair(bench)
    return bench


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


class TestRefusals:
    """At run time: an error that names the port."""

    def test_missing_input(self, pair: Workbench) -> None:
        with pytest.raises(Exception, match="pre/obs"):
            pair.manager()({})

    def test_unknown_port(self, pair: Workbench) -> None:
        with pytest.raises(Exception, match="pre/nonsense"):
            pair.manager()({"pre/obs": torch.ones(1, 3), "pre/nonsense": torch.ones(1)})

    @pytest.mark.parametrize("shape", [(3,), (1, 4), (2, 3), (1, 3, 1), ()])
    def test_wrong_shape(self, pair: Workbench, shape: tuple[int, ...]) -> None:
        with pytest.raises(Exception, match="pre/obs"):
            pair.manager()({"pre/obs": torch.ones(shape)})

    @pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.bool, torch.float16])
    def test_wrong_dtype(self, pair: Workbench, dtype: torch.dtype) -> None:
        with pytest.raises(Exception, match="pre/obs"):
            pair.manager()({"pre/obs": torch.ones(1, 3).to(dtype)})

    def test_not_a_tensor(self, pair: Workbench) -> None:
        with pytest.raises(Exception, match="pre/obs"):
            pair.manager()({"pre/obs": "hello"})

    def test_state_is_unharmed_by_a_refused_call(self, pair: Workbench) -> None:
        manager, reference = pair.manager(), Reference()
        obs = torch.ones(1, 3)
        torch.testing.assert_close(manager({"pre/obs": obs})["policy/action"], reference(obs))
        with pytest.raises(Exception, match="pre/obs"):
            manager({"pre/obs": torch.ones(7)})
        torch.testing.assert_close(manager({"pre/obs": obs})["policy/action"], reference(obs))

    @pytest.mark.parametrize(
        ("node", "port", "value"),
        [
            ("nobody", "prev", torch.ones(1, 3)),
            ("pre", "nothing", torch.ones(1, 3)),
            ("pre", "prev", torch.ones(2, 3)),
            ("pre", "prev", torch.ones(1, 3, dtype=torch.int64)),
        ],
        ids=["node", "port", "shape", "dtype"],
    )
    def test_set_input_value(self, pair: Workbench, node: str, port: str, value: Any) -> None:
        with pytest.raises(Exception, match=f"{node if node == 'nobody' else port}"):
            pair.manager().set_input_value(node, port, value)

    def test_unknown_keyword(self, jit_pair: Workbench) -> None:
        with pytest.raises(TypeError):
            jit_pair.manager(colour="blue")


class TestLoading:
    def edit(self, bench: Workbench, change: Any) -> str:
        path = bench.path("g", "g.yaml")
        document = yaml.safe_load(path.read_text())
        change(document)
        path.write_text(yaml.safe_dump(document, sort_keys=False))
        return str(path)

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="not found"):
            InferenceManager(str(tmp_path / "nothing.yaml"))

    def test_not_yaml(self, tmp_path: Path) -> None:
        (tmp_path / "model.txt").write_text("x")
        with pytest.raises(ValueError, match=r"must end with \.yaml"):
            InferenceManager(str(tmp_path / "model.txt"))

    @pytest.mark.parametrize("section", ["models", "pipeline", "system information"])
    def test_missing_section(self, jit_pair: Workbench, section: str) -> None:
        path = self.edit(jit_pair, lambda document: document.pop(section))
        with pytest.raises(ValueError, match="must contain"):
            InferenceManager(path)

    def test_missing_model_file(self, pair: Workbench, backend: str) -> None:
        suffix = "pt" if backend == "jit" else "onnx"
        pair.path("g", f"policy.{suffix}").unlink()
        with pytest.raises((FileNotFoundError, ValueError), match="policy"):
            pair.manager()

    def test_changed_model_file(self, pair: Workbench, backend: str) -> None:
        path = pair.path("g", f"policy.{'pt' if backend == 'jit' else 'onnx'}")
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(ValueError, match="SHA256 checksum mismatch"):
            pair.manager()

    def test_unknown_backend(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["models"]["policy"]["parameters"].update(backend="fortran")
        )
        with pytest.raises(ValueError, match="Unsupported backend"):
            InferenceManager(path)

    def test_wire_between_other_shapes(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["models"]["policy"]["inputs"][0].update(shape=[1, 5])
        )
        with pytest.raises(ValueError, match="Shape mismatch in pipeline connection"):
            InferenceManager(path)

    def test_wire_between_other_dtypes(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["models"]["policy"]["inputs"][0].update(dtype="float64")
        )
        with pytest.raises(ValueError, match="Dtype mismatch in pipeline connection"):
            InferenceManager(path)

    @pytest.mark.parametrize("version", ["1.1", "1.2", "1.3", "1.4"])
    def test_known_config_version(self, jit_pair: Workbench, version: str) -> None:
        path = self.edit(
            jit_pair, lambda d: d["system information"].update({"leapp config version": version})
        )
        manager = InferenceManager(path)
        manager(manager.get_mock_input())

    @pytest.mark.parametrize("version", ["1.5", "2.0", "17.1"])
    def test_newer_config_version(self, jit_pair: Workbench, version: str) -> None:
        path = self.edit(
            jit_pair, lambda d: d["system information"].update({"leapp config version": version})
        )
        with pytest.raises(Exception, match=version.replace(".", r"\.")):
            InferenceManager(path)

    @pytest.mark.parametrize("path", ["../escape.pt", "/etc/passwd", "a/../../escape.pt"])
    def test_path_that_leaves_the_folder(self, jit_pair: Workbench, path: str) -> None:
        shutil.copy(jit_pair.path("g", "policy.pt"), jit_pair.path("escape.pt"))
        yaml_path = self.edit(
            jit_pair, lambda d: d["models"]["policy"]["parameters"].update(model_path=path)
        )
        with pytest.raises(Exception, match=r"policy|folder|path|leave|outside"):
            InferenceManager(yaml_path)

    def test_changed_initial_values(self, jit_pair: Workbench) -> None:
        path = jit_pair.path("g", "g_initial_values.safetensors")
        content = bytearray(path.read_bytes())
        content[-1] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(ValueError, match="checksum"):
            jit_pair.manager()

    def test_missing_initial_values(self, jit_pair: Workbench) -> None:
        jit_pair.path("g", "g_initial_values.safetensors").unlink()
        with pytest.raises(FileNotFoundError):
            jit_pair.manager()

    @pytest.mark.parametrize(
        "text", ["", "[]", "3", "models: [", "models: {a: 1}\npipeline: 3\n", "\x00\x01"]
    )
    def test_broken_yaml(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "g.yaml"
        path.write_text(text)
        with pytest.raises(ValueError):
            InferenceManager(str(path))

    def test_wire_to_nowhere(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["pipeline"]["data_flow"].update({"pre/mixed": ["nobody/x"]})
        )
        with pytest.raises(ValueError, match="nobody"):
            InferenceManager(path)

    def test_wire_from_nowhere(self, jit_pair: Workbench) -> None:
        path = self.edit(
            jit_pair, lambda d: d["pipeline"]["data_flow"].update({"pre/nothing": ["policy/x"]})
        )
        with pytest.raises(ValueError, match="nothing"):
            InferenceManager(path)


class TestNoModel:
    def test_loads_for_inspection_and_refuses_to_run(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 2}, export_with=None)
        bench.compile()
        manager = bench.manager()
        assert manager.inputs == ["n/x"]
        with pytest.raises(Exception, match="n") as caught:
            manager({"n/x": torch.ones(2)})
        assert not isinstance(caught.value, TypeError)
        assert "model" in str(caught.value)

    def test_dry_run_bundle_loads(self, bench: Workbench) -> None:
        with bench.trace(dry_run=True):
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        bench.compile()
        assert bench.manager().outputs == ["n/y"]


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
