"""Programs of torch.export: how they run, and what a file may do when it is loaded."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import refused
from ready_bundle import Bundle
from test_trust_models import Double, one_node, refusal, rewritten

from leapp import InferenceManager


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    return Bundle(tmp_path)


class TestRunning:
    """The backend pt2, which runs only in Python."""

    @staticmethod
    def export(bundle: Bundle, module: torch.nn.Module, *example: torch.Tensor) -> Path:
        path = bundle.folder / "n.pt2"
        torch.export.save(torch.export.export(module, example), path)
        return path

    def test_runs_with_state(self, bundle: Bundle) -> None:
        class Recurrent(torch.nn.Module):
            def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, ...]:
                y = x + h
                return y, y * 0.5

        path = self.export(bundle, Recurrent(), torch.ones(1, 4), torch.ones(1, 4))
        bundle.node("n", path, ["x", "h"], ["y", "h"]).feedback("n/h", "n/h")
        manager = InferenceManager(bundle.input("n", "x").output("n", "y").write())
        x = torch.ones(1, 4)
        assert [manager({"n/x": x})["n/y"][0, 0].item() for _ in range(3)] == [1, 1.5, 1.75]
        assert "torch.export" in manager.description()[0]

    def test_wrong_shape_names_the_node(self, bundle: Bundle) -> None:
        class Half(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x[:, :2] * 1

        path = self.export(bundle, Half(), torch.ones(1, 4))
        bundle.node("n", path, ["x"], ["y"]).input("n", "x").output("n", "y")
        manager = InferenceManager(bundle.write())
        with refused("LP611", "'n'"):
            manager({"n/x": torch.ones(1, 4)})

    def test_broken_file_names_the_node(self, bundle: Bundle) -> None:
        (bundle.folder / "n.pt2").write_text("no archive")
        bundle.node("n", bundle.folder / "n.pt2", ["x"], ["y"]).input("n", "x").output("n", "y")
        with refused("LP003", "'n'", "n.pt2"):
            InferenceManager(bundle.write())


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.file),)


class TestTrust:
    """Files of torch.export, which PyTorch unpickles and evaluates."""

    @staticmethod
    def program(module: torch.nn.Module | None = None) -> bytes:
        buffer = io.BytesIO()
        exported = torch.export.export(module or Double(), (torch.ones(1, 4),))
        torch.export.save(exported, buffer)
        return buffer.getvalue()

    @staticmethod
    def former(weights: Any) -> bytes:
        """Return a program that adds ``weights["w"]`` twice, as PyTorch 2.7 writes it."""

        def tensor(name: str) -> dict[str, Any]:
            return {"as_tensor": {"name": name}}

        parameter = {"parameter_name": "w", "arg": {"name": "p_w"}}
        arguments = {"self": tensor("x"), "other": tensor("p_w"), "alpha": {"as_int": 2}}
        graph_module = {
            "signature": {
                "input_specs": [{"parameter": parameter}, {"user_input": {"arg": tensor("x")}}],
                "output_specs": [{"user_output": {"arg": tensor("y")}}],
            },
            "graph": {
                "nodes": [
                    {
                        "target": "torch.ops.aten.add.Tensor",
                        "inputs": [
                            {"name": name, "arg": arg, "kind": 2 if name == "alpha" else 1}
                            for name, arg in arguments.items()
                        ],
                        "outputs": [tensor("y")],
                    }
                ]
            },
        }
        state = io.BytesIO()
        torch.save(weights, state)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            document = json.dumps({"graph_module": graph_module})
            archive.writestr("serialized_exported_program.json", document)
            archive.writestr("serialized_state_dict.pt", state.getvalue())
            archive.writestr("serialized_constants.pt", b"")
        return buffer.getvalue()

    @staticmethod
    def with_json(
        data: bytes, ending: str | tuple[str, ...], change: Callable[[Any], None]
    ) -> bytes:
        def rewrite(name: str, record: bytes) -> bytes:
            if not name.endswith(ending):
                return record
            document = json.loads(record)
            change(document)
            return json.dumps(document).encode()

        return rewritten(data, rewrite)

    @pytest.mark.parametrize("trust", [None, "code"])
    def test_both_readers_give_the_same(self, tmp_path: Path, trust: Any) -> None:
        module = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.ELU(), torch.nn.Linear(8, 4)
        )
        path = one_node(tmp_path, ".pt2", self.program(module))
        x = torch.randn(1, 4)
        result = InferenceManager(path, trust=trust)({"n/x": x})["n/y"]
        assert torch.allclose(result, module(x))

    def test_pickles_are_not_opened(self, tmp_path: Path) -> None:
        made = tmp_path / "made"
        bad = pickle.dumps(Payload(made))
        data = rewritten(self.program(), lambda name, record: bad if "_inputs" in name else record)
        manager = InferenceManager(one_node(tmp_path, ".pt2", data))
        assert manager({"n/x": torch.ones(1, 4)})["n/y"][0, 0] == 2
        assert not made.exists()

    @pytest.mark.skipif(
        torch.__version__ < "2.8", reason="this PyTorch pickles the tensors of every program"
    )
    def test_a_pickled_weight_is_refused(self, tmp_path: Path) -> None:
        def change(config: Any) -> None:
            for entry in config["config"].values():
                entry["use_pickle"] = True

        data = self.with_json(self.program(torch.nn.Linear(4, 4)), "weights_config.json", change)
        message = refusal(one_node(tmp_path, ".pt2", data))
        assert "has to be unpickled" in message
        assert 'trust="code"' in message

    def test_a_program_of_an_older_pytorch_runs(self, tmp_path: Path) -> None:
        data = self.former({"w": torch.full((4,), 3.0)})
        manager = InferenceManager(one_node(tmp_path, ".pt2", data))
        assert manager({"n/x": torch.ones(1, 4)})["n/y"].tolist() == [[7.0] * 4]

    def test_tensors_of_an_older_pytorch_run_nothing(self, tmp_path: Path) -> None:
        made = tmp_path / "made"
        for weights in ({"w": Payload(made)}, {"w": 3}, [torch.ones(4)]):
            message = refusal(one_node(tmp_path, ".pt2", self.former(weights)))
            assert message.endswith("[LP625]")
        assert not made.exists()

    def test_an_archive_of_something_else_is_refused(self, tmp_path: Path) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("readme", "")
        assert "it has no models/model.json" in refusal(
            one_node(tmp_path, ".pt2", buffer.getvalue())
        )

    def test_an_operator_that_writes_is_refused(self, tmp_path: Path) -> None:
        def change(model: Any) -> None:
            model["graph_module"]["graph"]["nodes"][0]["target"] = (
                "torch.ops.aten.from_file.default"
            )

        message = refusal(
            one_node(
                tmp_path,
                ".pt2",
                self.with_json(self.program(), ("model.json", "program.json"), change),
            )
        )
        assert "it calls 'torch.ops.aten.from_file.default'" in message
        assert message.endswith("[LP625]")
