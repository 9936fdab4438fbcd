"""Bundles from anywhere: what they may do, what they may say, and what they may race with."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from conftest import Workbench
from ready_bundle import Bundle
from test_inference_cli import COMMAND, leapp

from leapp import InferenceManager, LeappError, TensorSemantics, annotate


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
        if "serialized_state_dict.pt" in zipfile.ZipFile(buffer).namelist():
            pytest.skip("this PyTorch pickles the tensors of a program")
        return buffer.getvalue()

    @staticmethod
    def with_json(data: bytes, ending: str, change: Callable[[Any], None]) -> bytes:
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
        data = rewritten(
            self.program(), lambda name, record: bad if "sample_inputs" in name else record
        )
        manager = InferenceManager(one_node(tmp_path, ".pt2", data))
        assert manager({"n/x": torch.ones(1, 4)})["n/y"][0, 0] == 2
        assert not made.exists()

    def test_a_pickled_weight_is_refused(self, tmp_path: Path) -> None:
        def change(config: Any) -> None:
            for entry in config["config"].values():
                entry["use_pickle"] = True

        data = self.with_json(self.program(torch.nn.Linear(4, 4)), "weights_config.json", change)
        message = refusal(one_node(tmp_path, ".pt2", data))
        assert "has to be unpickled" in message
        assert 'trust="code"' in message

    def test_a_program_of_an_older_pytorch_is_refused(self, tmp_path: Path) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("serialized_exported_program.json", "{}")
            archive.writestr("serialized_state_dict.pt", b"")
        message = refusal(one_node(tmp_path, ".pt2", buffer.getvalue()))
        assert "its tensors are pickles" in message
        assert message.endswith("[LP625]")

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
            one_node(tmp_path, ".pt2", self.with_json(self.program(), "model.json", change))
        )
        assert "it calls 'torch.ops.aten.from_file.default'" in message
        assert message.endswith("[LP625]")


def test_trust_is_code_or_nothing(tmp_path: Path) -> None:
    path = one_node(tmp_path, ".pt2", TestExportedProgram.program())
    with pytest.raises(ValueError, match="trust must be 'code' or None, not 'all'"):
        InferenceManager(path, trust="all")  # type: ignore[arg-type]


@pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")
class TestCommand:
    """The same from a shell."""

    def test_check_refuses_and_is_told_to_trust(self, tmp_path: Path) -> None:
        file = tmp_path / "written"
        body = f'    y = torch.from_file("{file}", True, 4)\n    return x\n'
        path = TestTorchScript.program(tmp_path, body)
        assert "--trust-code" in leapp("check", path, code=1).stderr
        assert not file.exists()
        leapp("check", path, "--trust-code")

    def test_no_control_character_reaches_the_terminal(self, tmp_path: Path) -> None:
        bundle = Bundle(tmp_path).node("n", "affine.onnx", ["x"], ["y"])
        bundle.models["n"]["inputs"][0]["kind"] = "\x1b[2Jred\u009b31m"
        path = bundle.input("n", "x").output("n", "y").write()
        for arguments in ((), ("--json",)):
            shown = leapp("inspect", path, *arguments).stdout
            assert "red" in shown
            assert not any((c < " " and c != "\n") or "\x7f" <= c < "\xa0" for c in shown)

    def test_nor_from_a_model(self, tmp_path: Path) -> None:
        class Raises(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if bool(x.sum() > -1e30):
                    raise RuntimeError("\x1b[2Jgone")
                return x

        buffer = io.BytesIO()
        torch.jit.save(torch.jit.script(Raises()), buffer)
        error = leapp("check", one_node(tmp_path, ".pt", buffer.getvalue()), code=1).stderr
        assert "gone" in error
        assert "\x1b" not in error


class TestWhatIsChecked:
    """What runs is what was verified."""

    @staticmethod
    def export(bench: Workbench, factor: float) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(1, 4)})
            wide = torch.eye(64)[:4] * factor  # small weights stay in the model
            y = torch.nn.functional.linear(x @ wide, torch.eye(64)[:4])
            annotate.output_tensors(
                "n", {"y": y}, export_with="onnx", backend_params={"external_data": True}
            )
        bench.compile(validate=False)

    def test_external_data_is_loaded_from_verified_bytes(self, bench: Workbench) -> None:
        self.export(bench, 3)
        assert bench.path("g", "n.onnx.data").is_file()
        assert bench.manager()({"n/x": torch.ones(1, 4)})["n/y"][0, 0] == 3

    def test_external_data_must_be_listed(
        self, bench: Workbench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.export(bench, 3)
        document = bench.yaml()
        del document["models"]["n"]["parameters"]["external_data"]
        bench.path("g", "g.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
        monkeypatch.chdir(bench.path("g"))  # where ONNX Runtime would look
        with pytest.raises(ValueError, match=r"keeps weights in 'n\.onnx\.data', which the bundle"):
            bench.manager()

    def test_an_empty_checksum_is_an_error(self, bench: Workbench) -> None:
        with bench.trace():
            h = torch.zeros(4)
            for _ in range(2):
                x, h = annotate.input_tensors("n", {"x": torch.ones(4), "h": h})
                h = x + h
                annotate.output_tensors("n", {"h": h}, export_with="onnx")
        bench.compile()
        document = bench.yaml()
        document["pipeline"]["initial_values_sha256sum"] = ""
        bench.path("g", "g.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
        with pytest.raises(ValueError, match=r"\[B13\].*an empty text is no checksum"):
            bench.manager()

    def test_a_reader_that_races_an_export_gets_one_version(self, bench: Workbench) -> None:
        versions = []
        for factor in (2, 3):
            self.export(bench, factor)
            versions.append(bench.path(f"version{factor}"))
            shutil.copytree(bench.path("g"), versions[-1])
        stop = threading.Event()

        def swap() -> None:
            place, turn = bench.path("g"), 0
            while not stop.is_set():
                fresh, old = bench.path("fresh"), bench.path("old")
                shutil.copytree(versions[turn], fresh)
                place.rename(old)
                fresh.rename(place)
                shutil.rmtree(old)
                turn = 1 - turn

        swapper = threading.Thread(target=swap)
        swapper.start()
        loaded = 0
        try:
            for _ in range(40):
                try:
                    manager = bench.manager()
                except LeappError:
                    continue
                loaded += 1
                assert manager({"n/x": torch.ones(1, 4)})["n/y"][0, 0] in (2, 3)
        finally:
            stop.set()
            swapper.join()
        assert loaded > 0


def test_two_threads_get_right_results_or_an_error(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path).node("n", "affine.onnx", ["x"], ["y"])
    manager = InferenceManager(bundle.input("n", "x").output("n", "y").write(), array="numpy")
    wrong: list[float] = []
    refused: list[str] = []

    def work(value: float) -> None:
        for _ in range(2000):
            try:
                y = manager({"n/x": np.full((1, 4), value, np.float32)})["n/y"]
            except LeappError as error:
                refused.append(error.code)
            else:
                if (y != 2 * value + 1).any():
                    wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert set(refused) <= {"LP609"}


class TestNeverASignal:
    """Values that would end the process."""

    @pytest.fixture
    def manager(self, tmp_path: Path) -> InferenceManager:
        bundle = Bundle(tmp_path).node("n", "affine.onnx", ["x"], ["y"])
        return InferenceManager(bundle.input("n", "x").output("n", "y").write())

    def test_tensors_without_memory(self, manager: InferenceManager) -> None:
        from torch._subclasses import FakeTensorMode

        resized = torch.ones(1, 4)
        resized.untyped_storage().resize_(0)
        with FakeTensorMode():
            fake = torch.ones(1, 4)
        functional = torch._to_functional_tensor(torch.ones(1, 4))
        for tensor in (resized, fake, functional, torch.empty(1, 4, device="meta")):
            with pytest.raises((LeappError, RuntimeError, BufferError)):
                manager({"n/x": tensor})
        assert manager({"n/x": torch.ones(1, 4)})["n/y"][0, 0] == 3

    def test_misaligned_memory(self, manager: InferenceManager) -> None:
        bytes_ = np.zeros(17, np.uint8)
        odd = bytes_[1:].view(np.float32).reshape(1, 4)
        with pytest.raises(ValueError, match="is not aligned for float32"):
            manager.bind_input("n/x", odd)

    def test_too_many_threads(self, tmp_path: Path) -> None:
        bundle = Bundle(tmp_path).node("n", "affine.onnx", ["x"], ["y"])
        path = bundle.input("n", "x").output("n", "y").write()
        with pytest.raises(ValueError, match="threads must be at most"):
            InferenceManager(path, threads=100000)

    def test_variables_that_contain_themselves(self, bench: Workbench) -> None:
        own: list[Any] = [torch.ones(1)]
        own.append(own)
        chain: list[Any] = []
        for _ in range(5000):
            chain = [chain]
        with bench.trace():
            for _ in range(2):
                x = annotate.input_tensors("n", {"x": torch.ones(4)})
                annotate.output_tensors("n", {"y": x + own[0]}, export_with="onnx")
        assert bench.compile()
        assert chain


class TestWhatIsWrittenIsRead:
    """An export that nobody could load is an error, and the former one stands."""

    @staticmethod
    def export(bench: Workbench, size: int, ports: int = 1, note: str = "") -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(4)})
            outputs = [
                TensorSemantics(f"y{i}", ref=(x.sum() + i).expand(size), extra={"note": note})
                for i in range(ports)
            ]
            annotate.output_tensors("n", outputs, export_with="onnx")
        bench.compile(validate=False)

    def test_ports_beyond_the_limit(self, bench: Workbench) -> None:
        self.export(bench, 8)
        before = bench.text()
        with pytest.raises(ValueError, match=r"could not be loaded again.*\[B9\]"):
            self.export(bench, (1 << 28) + 1)
        assert bench.text() == before

    def test_a_description_beyond_the_limit(self, bench: Workbench) -> None:
        self.export(bench, 8)
        before = bench.text()
        with pytest.raises(ValueError, match="could not be loaded again"):
            self.export(bench, 8, ports=20, note="x" * 1_000_000)
        assert bench.text() == before
