"""InferenceManager from Python: arrays in and out, options, engines in Python, torch-free use.

C++ tests cover what a bundle computes; these tests cover what Python adds.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import refused
from ready_bundle import Bundle

import leapp
from leapp import InferenceManager, LeappError

BLOCK_TORCH = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    return Bundle(tmp_path)


@pytest.fixture
def affine(bundle: Bundle) -> str:
    """y = 2 x + 1."""
    return bundle.node("n", "affine.onnx", ["x"], ["y"]).input("n", "x").output("n", "y").write()


@pytest.fixture
def recurrent(bundle: Bundle) -> str:
    """y = x + h, h' = y / 2."""
    bundle.node("n", "recurrent.onnx", ["x", "h_in"], ["y", "h_out"]).feedback("n/h_out", "n/h_in")
    return bundle.input("n", "x").output("n", "y").write()


def same(bundle: Bundle, dtype: str) -> str:
    """Return a node that returns its three elements."""
    port = [dtype, [3]]
    bundle.node("n", f"same_{dtype}.onnx", [["x", *port]], [["y", *port]])
    return bundle.input("n", "x").output("n", "y").write()


def require_exchange(dtype: str) -> None:
    """Skip if this PyTorch cannot pass tensors of the type to other libraries."""
    try:
        torch.zeros(1, dtype=getattr(torch, dtype)).__dlpack__()
    except (BufferError, RuntimeError) as error:
        pytest.skip(str(error))


class TestArrays:
    def test_torch_in_and_out(self, affine: str) -> None:
        result = InferenceManager(affine)({"n/x": torch.tensor([[1.0, 2.0, 3.0, 4.0]])})
        assert torch.equal(result["n/y"], torch.tensor([[3.0, 5.0, 7.0, 9.0]]))
        assert not result["n/y"].requires_grad

    def test_numpy_in_and_out(self, affine: str) -> None:
        manager = InferenceManager(affine, array="numpy")
        result = manager({"n/x": np.array([[1, 2, 3, 4]], np.float32)})["n/y"]
        assert isinstance(result, np.ndarray)
        assert result.tolist() == [[3, 5, 7, 9]]
        result[:] = 0  # the caller's
        assert isinstance(manager.get_mock_input()["n/x"], np.ndarray)
        assert isinstance(manager.value_dict["n"]["y"], np.ndarray)

    @pytest.mark.parametrize(
        "x",
        [
            torch.arange(8.0).reshape(4, 2).t()[1:],
            torch.arange(4.0).expand(1, 4),
            torch.arange(4.0).flip(0).reshape(1, 4),
            torch.ones(1, 4, requires_grad=True),
            torch.nn.Parameter(torch.ones(1, 4)),
            (torch.tensor([[1 + 2j, 3, 4, 5j]]).conj() * 1j).imag,
            torch.tensor([[1 + 2j, 3, 4, 5j]]).conj().imag,
            np.arange(8, dtype=np.float32).reshape(4, 2).T[1:],
            np.arange(4, dtype=np.float32)[None, ::-1],
            np.broadcast_to(np.float32(3), (1, 4)),
        ],
        ids=[
            "transposed", "expanded", "flipped", "grad", "parameter", "imag", "lazily negated",
            "numpy transposed", "numpy reversed", "numpy broadcast",
        ],
    )  # fmt: skip
    def test_any_layout(self, affine: str, x: Any) -> None:
        expected = np.array(x.detach().tolist() if isinstance(x, torch.Tensor) else x) * 2 + 1
        result = InferenceManager(affine, array="numpy")({"n/x": x})["n/y"]
        np.testing.assert_array_equal(result, expected)

    @pytest.mark.parametrize(
        "dtype",
        "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float64 "
        "float8_e4m3fn float8_e5m2".split(),
    )
    def test_every_dtype(self, bundle: Bundle, dtype: str) -> None:
        require_exchange(dtype)
        manager = InferenceManager(same(bundle, dtype))
        kind = getattr(torch, dtype)
        x = torch.tensor([0.0, 1.0, 1.0]).to(kind)
        result = manager({"n/x": x})["n/y"]
        assert result.dtype == kind
        assert result.to(torch.float64).tolist() == [0, 1, 1]
        assert manager.get_mock_input()["n/x"].dtype == kind

    @pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn"])
    def test_numpy_without_such_a_type_gives_its_bits(self, bundle: Bundle, dtype: str) -> None:
        pytest.importorskip("ml_dtypes")
        require_exchange(dtype)
        manager = InferenceManager(same(bundle, dtype), array="numpy")
        x = torch.tensor([0.0, 1.0, -1.0]).to(getattr(torch, dtype))
        assert manager({"n/x": x})["n/y"].astype(np.float32).tolist() == [0, 1, -1]

    def test_mapping_that_is_not_a_dict(self, affine: str) -> None:
        from types import MappingProxyType

        result = InferenceManager(affine)(MappingProxyType({"n/x": torch.ones(1, 4)}))
        assert result["n/y"].tolist() == [[3, 3, 3, 3]]

    @pytest.mark.parametrize(
        ("value", "kind", "text"),
        [
            ("hello", TypeError, "input n/x is a str, expected a torch tensor or a NumPy array"),
            ([[1.0] * 4], TypeError, "input n/x is a list, expected"),
            (None, TypeError, "input n/x is a NoneType, expected"),
            (torch.ones(1, 4).double(), TypeError, "input n/x is float64, expected float32"),
            (np.ones((1, 4), ">f4"), TypeError, "input n/x is of another type, expected float32"),
            (torch.ones(4), ValueError, r"input n/x has shape \[4\], expected \[1, 4\]"),
            (torch.ones([1] * 70), ValueError, "70 dimensions, more than a port can have"),
        ],
        ids=["str", "list", "none", "dtype", "byte order", "shape", "dimensions"],
    )
    def test_refusals(self, affine: str, value: Any, kind: type[Exception], text: str) -> None:
        with pytest.raises(kind, match=text) as caught:
            InferenceManager(affine)({"n/x": value})
        assert isinstance(caught.value, leapp.LeappError)

    def test_names_are_text(self, affine: str) -> None:
        with refused("LP002"):
            InferenceManager(affine)({3: torch.ones(1, 4)})  # type: ignore[dict-item]


class TestBinding:
    @pytest.mark.parametrize("make", [torch.zeros, np.zeros], ids=["torch", "numpy"])
    def test_arrays_in_place(self, affine: str, make: Any) -> None:
        manager = InferenceManager(affine)
        kind = torch.float32 if make is torch.zeros else np.float32
        x, y = make((1, 4), dtype=kind), make((1, 4), dtype=kind)
        manager.bind_input("n/x", x)
        manager.bind_output("n/y", y)
        for value in (1.0, 5.0):
            x[:] = value
            manager.tick()
            assert y.tolist() == [[2 * value + 1] * 4]
        manager.bind_input("n/x", None)
        manager.bind_output("n/y", None)
        assert manager({"n/x": torch.zeros(1, 4)})["n/y"].tolist() == [[1.0] * 4]
        assert y.tolist() == [[11.0] * 4]

    def test_a_bound_array_stays_alive(self, affine: str) -> None:
        manager = InferenceManager(affine)
        manager.bind_input("n/x", torch.full((1, 4), 3.0))
        junk = [torch.full((1, 4), float(i)) for i in range(100)]
        manager.tick()
        assert manager.value_dict["n"]["y"].tolist() == [[7.0] * 4]
        assert len(junk) == 100

    def test_refusals(self, affine: str) -> None:
        manager = InferenceManager(affine)
        with refused("LP608", "n/x"):
            manager.bind_input("n/x", torch.zeros(4, 2).t()[:1])
        frozen = np.zeros((1, 4), np.float32)
        frozen.flags.writeable = False
        with refused("LP608", "n/y"):
            manager.bind_output("n/y", frozen)
        manager.bind_input("n/x", frozen)
        with refused("LP607", "n/x"):
            manager({"n/x": torch.ones(1, 4)})


class TestState:
    def test_undo(self, recurrent: str) -> None:
        manager = InferenceManager(recurrent)
        x = {"n/x": torch.tensor([[1.0, 2.0, 3.0, 4.0]])}
        manager(x)
        kept = manager.state()
        assert list(kept) == ["n/h_in"]
        second = manager(x)["n/y"]
        manager.set_state(kept)
        assert torch.equal(manager(x)["n/y"], second)

    def test_set_input_value_takes_the_annotated_name(self, recurrent: str) -> None:
        manager = InferenceManager(recurrent)
        manager.set_input_value("n", "h", np.full((1, 4), 8, np.float32))
        assert manager.value_dict["n"]["h"].tolist() == [[8.0] * 4]
        assert manager({"n/x": torch.zeros(1, 4)})["n/y"].tolist() == [[8.0] * 4]

    def test_value_dict(self, recurrent: str) -> None:
        manager = InferenceManager(recurrent)
        manager({"n/x": torch.full((1, 4), 2.0)})
        values = manager.value_dict
        assert list(values) == ["n"]
        assert list(values["n"]) == ["x", "h_in", "y", "h_out"]
        assert values["n"]["h_in"].tolist() == [[1.0] * 4]
        with pytest.raises(KeyError):
            values["n"]["z"]
        assert "'h_out'" in repr(values)


class TestOptions:
    def test_everything_together(self, affine: str) -> None:
        misses: list[tuple[int, float, float]] = []
        manager = InferenceManager(
            affine,
            threads=2,
            spinning=True,
            provider="cpu",
            nodes={"n": {"threads": 1}},
            merge=False,
            check_finite=["inputs"],
            staleness={"n/x": 10.0},
            deadline=1e-9,
            on_deadline_miss=lambda *miss: misses.append(miss),
            measure=True,
        )
        manager.prepare()
        manager({"n/x": torch.ones(1, 4)})
        assert misses[0][0] == 0
        assert misses[0][1] > misses[0][2] == 1e-9
        statistics = manager.statistics()
        assert statistics["deadline_misses"] == 1
        assert statistics["tick"]["count"] == 1
        assert statistics["nodes"]["n"]["max"] > 0
        manager.reset_statistics()
        assert manager.statistics()["tick"]["count"] == 0
        with refused("LP606", "n/x"):
            manager({"n/x": torch.full((1, 4), torch.nan)})
        assert manager.description()[0].startswith("n: ONNX Runtime")

    def test_torchscript_runs_in_onnx_runtime_by_default(self, tmp_path: Path) -> None:
        layers = torch.nn.Sequential(
            torch.nn.Conv1d(2, 8, 3), torch.nn.BatchNorm1d(8), torch.nn.ELU(), torch.nn.Flatten(),
            torch.nn.LayerNorm(48), torch.nn.Linear(48, 5), torch.nn.Softmax(-1),
        ).eval()  # fmt: skip
        leapp.start("t", save_path=str(tmp_path))
        x = leapp.annotate.input_tensors("n", {"x": torch.randn(1, 2, 8)})
        leapp.annotate.output_tensors("n", {"y": layers(x)}, export_with="jit")
        leapp.stop()
        leapp.compile_graph(visualize=False)
        yaml = tmp_path / "t" / "t.yaml"
        translated, own = InferenceManager(yaml), InferenceManager(yaml, translate=False)
        single = InferenceManager(yaml, nodes={"n": {"translate": False}})
        assert "translated from TorchScript" in translated.description()[0]
        assert own.description()[0].startswith("n: TorchScript")
        assert single.description() == own.description()
        for _ in range(5):
            value = torch.randn(1, 2, 8)
            expected = layers(value)
            assert torch.equal(own({"n/x": value})["n/y"], expected)
            torch.testing.assert_close(translated({"n/x": value})["n/y"], expected)

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"provider": "tpu"}, "execution provider 'tpu' is not part of this ONNX Runtime"),
            ({"nodes": {"m": {}}}, "options name a node 'm'"),
            ({"nodes": {"n": {"color": 1}}}, "there is no engine option 'color'"),
            ({"check_finite": ["weights"]}, "check_finite accepts inputs, state and outputs"),
            ({"array": "jax"}, "array must be 'torch' or 'numpy', not 'jax'"),
            ({"staleness": {"n/z": 1.0}}, "'n/z', which is not an input of the pipeline"),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_wrong_ones(self, affine: str, options: dict[str, Any], text: str) -> None:
        with pytest.raises(ValueError, match=text):
            InferenceManager(affine, **options)

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_raising_callback_does_not_stop_the_robot(self, affine: str) -> None:
        def fail(*_: Any) -> None:
            raise RuntimeError("my own fault")

        manager = InferenceManager(affine, deadline=1e-9, on_deadline_miss=fail)
        assert manager({"n/x": torch.ones(1, 4)})["n/y"].tolist() == [[3.0] * 4]

    def test_a_large_bundle_must_be_trusted(self, affine: str) -> None:
        with pytest.raises(leapp.LeappValueError, match=r"raise max_tensor_bytes \(of Inference"):
            InferenceManager(affine, max_tensor_bytes=31)
        InferenceManager(affine, max_tensor_bytes=32)


class TestThreads:
    def test_python_goes_on_while_models_run(self, bundle: Bundle) -> None:
        """During a tick of a large model, other threads of the interpreter run."""
        import onnx
        from onnx import TensorProto, helper

        size = 1200
        ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [size, size]) for n in "xy"]
        nodes = [
            helper.make_node("MatMul", ["x" if i == 0 else f"t{i}", "x"], [f"t{i + 1}"])
            for i in range(4)
        ]
        nodes.append(helper.make_node("Identity", ["t4"], ["y"]))
        graph = helper.make_graph(nodes, "big", ports[:1], ports[1:])
        opset = [helper.make_opsetid("", 20)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=9)
        onnx.save(model, str(bundle.folder / "n.onnx"))
        port = ["float32", [size, size]]
        bundle.node("n", bundle.folder / "n.onnx", [["x", *port]], [["y", *port]])
        manager = InferenceManager(bundle.input("n", "x").output("n", "y").write())
        x = {"n/x": torch.zeros(size, size)}
        manager(x)
        counted, done = [0], threading.Event()

        def count() -> None:
            while not done.is_set():
                counted[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        before = counted[0]
        manager(x)
        after = counted[0]
        done.set()
        thread.join()
        assert after - before > 100


class TestWrongCalls:
    """Common mistakes of a new user give a clear message."""

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"threads": "2"}, "threads must be a whole number, not str"),
            ({"affinity": 3}, "affinity must be a list of processors, not int"),
            ({"provider": 5}, "provider must be the name of a provider, not int"),
            ({"deadline": "soon"}, "deadline must be a number of seconds, not str"),
            ({"staleness": {"n/x": "old"}}, "staleness must be a number of seconds, not str"),
            (
                {"max_tensor_bytes": -1},
                "max_tensor_bytes must be a number of bytes from 0 to 18446744073709551615, not -1",
            ),
            (
                {"threads": 10**12},
                "threads must be a whole number from -2147483648 to 2147483647, not 1000000000000",
            ),
            ({"threads": True}, "threads must be a whole number, not bool"),
            ({"threads": 2.0}, "threads must be a whole number, not float"),
            ({"nodes": ["n"]}, "nodes must be a dict of options by node name, not list"),
            ({"nodes": {"n": 3}}, "nodes['n'] must be a dict, not int"),
            ({"nodes": {3: {}}}, "a key of nodes must be the name of a node, not int"),
            ({"staleness": [1.0]}, "staleness must be a dict of seconds by 'node/port', not list"),
            ({"on_deadline_miss": 3}, "on_deadline_miss must be a function of"),
            ({"measure": "yes"}, "measure must be True or False, not str"),
        ],
    )
    def test_options(self, recurrent: str, options: dict[str, Any], text: str) -> None:
        with pytest.raises((TypeError, ValueError), match=re.escape(text)) as caught:
            InferenceManager(recurrent, **options)
        assert isinstance(caught.value, LeappError)

    def test_a_tensor_for_the_dict(self, recurrent: str) -> None:
        with refused("LP002", "n/x"):
            InferenceManager(recurrent)(torch.ones(1, 4))  # type: ignore[arg-type]

    def test_a_directory(self, recurrent: str) -> None:
        with pytest.raises(ValueError, match=r"must end with \.yaml; this is a directory"):
            InferenceManager(Path(recurrent).parent)

    def test_no_path(self) -> None:
        with refused("LP002"):
            InferenceManager(None)  # type: ignore[arg-type]


class TestWithoutTorch:
    """A robot without PyTorch."""

    def run(self, code: str) -> str:
        result = subprocess.run(
            [sys.executable, "-c", BLOCK_TORCH + code], capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def test_onnx_runs_on_numpy(self, affine: str) -> None:
        out = self.run(
            f"import numpy as np, leapp\n"
            f"manager = leapp.InferenceManager({affine!r})\n"
            f"y = manager({{'n/x': np.ones((1, 4), np.float32)}})['n/y']\n"
            f"print(type(y).__name__, y.tolist(), 'torch' in sys.modules)\n"
        )
        assert out == "ndarray [[3.0, 3.0, 3.0, 3.0]] False\n"

    def test_torchscript_names_the_missing_package(self, bundle: Bundle) -> None:
        bundle.node("n", "affine.pt", ["x"], ["y"]).input("n", "x").output("n", "y")
        out = self.run(
            f"import leapp\n"
            f"try:\n  leapp.InferenceManager({bundle.write()!r})\n"
            f"except leapp.LeappError as error:\n  print(error.code, error)\n"
        )
        assert out.startswith("LP006 node 'n' is a TorchScript model, which needs PyTorch")

    def test_asking_for_torch_is_an_error(self, affine: str) -> None:
        out = self.run(
            f"import leapp\n"
            f"try:\n  leapp.InferenceManager({affine!r}, array='torch')\n"
            f"except ImportError as error:\n  print(error)\n"
        )
        assert "array='torch' needs PyTorch" in out


def test_nodes_describe_themselves(recurrent: str) -> None:
    node = InferenceManager(recurrent).nodes["n"]
    assert node.name == "n"
    assert node.backend == "onnx"
    assert node.model_path is not None
    assert Path(node.model_path).exists()
    assert [port["name"] for port in node.input_descriptions] == ["x", "h_in"]
    assert node.output_descriptions[0]["shape"] == [1, 4]


def test_repr(affine: str) -> None:
    assert "inputs=['n/x']" in repr(InferenceManager(affine))
