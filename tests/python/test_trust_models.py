"""Model files from anywhere: what one may do by being loaded."""

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
from conftest import Workbench
from ready_bundle import Bundle

from leapp import InferenceManager, LeappError, annotate


class Double(torch.nn.Module):
    """Computes and does nothing else."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def rewritten(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """A zip archive with other records."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return target.getvalue()


def one_node(folder: Path, suffix: str, data: bytes) -> str:
    file = folder / f"n{suffix}"
    file.write_bytes(data)
    return Bundle(folder).node("n", file, ["x"], ["y"]).input("n", "x").output("n", "y").write()


def refusal(path: str, **options: Any) -> str:
    with pytest.raises(LeappError) as refused:
        InferenceManager(path, **options)
    return str(refused.value)


class TestTorchScript:
    """Files of TorchScript, which are programs."""

    @staticmethod
    def program(folder: Path, body: str, parameters: str = "") -> str:
        """A bundle whose model has this source."""
        buffer = io.BytesIO()
        torch.jit.save(torch.jit.script(Double()), buffer)

        def change(name: str, data: bytes) -> bytes:
            if not name.endswith(".py"):
                return data
            text = data.decode()
            head, _, rest = text.partition("    x: Tensor) -> Tensor:\n")
            assert rest
            return (f"{head}    x: Tensor{parameters}) -> Tensor:\n{body}").encode()

        return one_node(folder, ".pt", rewritten(buffer.getvalue(), change))

    @pytest.mark.parametrize(
        "call",
        [
            'torch.from_file("{file}", True, 4)',
            'getattr(torch, "from_file")("{file}", True, 4)',
            'getattr(torch, "from_" "file")("{file}", True, 4)',
            'ops.aten.from_file("{file}", True, 4)',
        ],
    )
    def test_that_write_files_are_refused(self, tmp_path: Path, call: str) -> None:
        file = tmp_path / "written"
        path = self.program(tmp_path, f"    y = {call.format(file=file)}\n    return x\n")
        message = refusal(path)
        assert "its code calls 'from_file'" in message
        assert 'trust="code"' in message
        assert "--trust-code" in message
        assert message.endswith("[LP625]")
        assert not file.exists()
        manager = InferenceManager(path, trust="code", translate=False)
        assert manager({"n/x": torch.ones(1, 4)})["n/y"][0, 0] == 1

    def test_code_that_runs_while_loading_is_seen(self, tmp_path: Path) -> None:
        file = tmp_path / "written"
        path = self.program(
            tmp_path, "    return x\n", f', y: Tensor=torch.from_file("{file}", True, 4)'
        )
        assert "LP625" in refusal(path)
        assert not file.exists()

    @pytest.mark.parametrize(
        "line",
        [
            'print("\\x1b[2J")',
            'ops.aten.warn("hello")',
            "y = ops.c10d.barrier(x)",
            "y = fork(x)",
            "t = ops",
            'y = getattr(torch, "\\x66rom_file")',
            "y = x.set_(x)",
        ],
    )
    def test_that_do_more_than_compute_are_refused(self, tmp_path: Path, line: str) -> None:
        assert "LP625" in refusal(self.program(tmp_path, f"    {line}\n    return x\n"))

    def test_names_of_variables_are_free(self, bench: Workbench) -> None:
        with bench.trace():
            inputs = {"save": torch.ones(4), "print": torch.ones(4), "seed": torch.ones(4)}
            tensors = annotate.input_tensors("n", inputs)
            annotate.output_tensors("n", {"warn": sum(tensors)}, export_with="jit")
        bench.compile()
        manager = bench.manager()
        assert manager(manager.get_mock_input())

    @pytest.mark.parametrize(
        "expression", ["(" * 20000 + "x" + ")" * 20000, "x" + " + x" * 20000, "- " * 20000 + "x"]
    )
    def test_deep_nesting_is_an_error(self, tmp_path: Path, expression: str) -> None:
        path = self.program(tmp_path, f"    return {expression}\n")
        assert "could not be loaded as TorchScript: its code is nested too deeply" in refusal(path)

    def test_an_empty_record_is_an_error(self, tmp_path: Path) -> None:
        buffer = io.BytesIO()
        torch.jit.save(torch.jit.script(Double()), buffer)
        for emptied in ("data.pkl", "constants.pkl", ".py"):
            data = rewritten(
                buffer.getvalue(), lambda name, data, e=emptied: b"" if name.endswith(e) else data
            )
            assert "could not be loaded as TorchScript" in refusal(one_node(tmp_path, ".pt", data))


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.file),)


class TestExportedProgram:
    """Files of torch.export, which unpickle and evaluate."""

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
            assert "it holds an object that" in message
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


def test_trust_is_code_or_nothing(tmp_path: Path) -> None:
    path = one_node(tmp_path, ".pt2", TestExportedProgram.program())
    with pytest.raises(ValueError, match="trust must be 'code' or None, not 'all'"):
        InferenceManager(path, trust="all")  # type: ignore[arg-type]
