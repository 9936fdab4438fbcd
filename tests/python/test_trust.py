"""Bundles from strangers: text that they may contain, and files that change during loading."""

from __future__ import annotations

import io
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from conftest import Workbench, refused
from ready_bundle import Bundle
from test_inference_cli import COMMAND, leapp
from test_trust_models import one_node, torchscript

from leapp import InferenceManager, LeappError, TensorSemantics, annotate, diagnostics


@pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")
class TestCommand:
    """The same from a shell."""

    def test_check_refuses_without_trust(self, tmp_path: Path) -> None:
        file = tmp_path / "written"
        body = f'    y = torch.from_file("{file}", True, 4)\n    return x\n'
        path = torchscript(tmp_path, body)
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


class TestExport:
    """The export says which models a robot loads only if it trusts the bundle."""

    @staticmethod
    def double(x: torch.Tensor) -> torch.Tensor:
        """Compute without operators of PyTorch."""
        return torch.frombuffer(bytearray((x.numpy() * 2).tobytes()), dtype=x.dtype)

    LIBRARY = torch.library.Library("leapp_test_trust", "DEF")
    LIBRARY.define("opaque(Tensor x) -> Tensor")
    LIBRARY.impl("opaque", double, "CPU")
    LIBRARY.impl("opaque", torch.empty_like, "Meta")

    def export(self, bench: Workbench, function: Any, backend: str) -> list[str]:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.arange(3.0)})
            annotate.output_tensors("n", {"y": function(x)}, export_with=backend)
        assert bench.compile(strict_constants=False) == {"n": True}
        return [each.code for each in diagnostics() if each.node == "n"]

    @pytest.mark.parametrize("backend", ["jit", "pt2"])
    def test_an_operator_that_is_not_pytorchs(self, bench: Workbench, backend: str) -> None:
        opaque = torch.ops.leapp_test_trust.opaque
        assert self.export(bench, lambda x: opaque(x) + 1, backend) == ["LP625"]
        with pytest.raises(LeappError) as caught:
            bench.manager()({"n/x": torch.ones(3)})
        assert caught.value.code == "LP625"
        robot = InferenceManager(bench.path("g", "g.yaml"), trust="code")
        assert robot({"n/x": torch.ones(3)})["n/y"].tolist() == [3.0, 3.0, 3.0]

    @pytest.mark.parametrize("backend", ["jit", "pt2", "onnx"])
    def test_operators_that_pytorch_ships_need_no_trust(
        self, bench: Workbench, backend: str
    ) -> None:
        options = pytest.importorskip("torch.nn.modules.linear_cross_entropy_options")
        weight, target = torch.randn(5, 3), torch.tensor([1])

        def loss(x: torch.Tensor) -> torch.Tensor:
            chunked = options.LinearCrossEntropyOptions()
            value: torch.Tensor = torch.nn.functional.linear_cross_entropy(
                x[None], weight, target, options=chunked
            )
            return value.reshape(1)

        assert self.export(bench, loss, backend) == []
        x = torch.randn(3)
        torch.testing.assert_close(bench.manager()({"n/x": x})["n/y"], loss(x))


class TestWhatIsChecked:
    """The files that run are the verified files."""

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
        monkeypatch.chdir(bench.path("g"))  # where ONNX Runtime would search
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
        with pytest.raises(ValueError, match=r"\[B13\]"):
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
        with refused("LP608"):
            manager.bind_input("n/x", odd)

    def test_too_many_threads(self, tmp_path: Path) -> None:
        bundle = Bundle(tmp_path).node("n", "affine.onnx", ["x"], ["y"])
        path = bundle.input("n", "x").output("n", "y").write()
        with refused("LP619"):
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
    """An export that cannot be loaded is an error, and the previous export stays."""

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
        with pytest.raises(ValueError, match=r"bundle could not be loaded.*\[B9\]"):
            self.export(bench, (1 << 28) + 1)
        assert bench.text() == before

    def test_a_description_beyond_the_limit(self, bench: Workbench) -> None:
        self.export(bench, 8)
        before = bench.text()
        with pytest.raises(ValueError, match="bundle could not be loaded"):
            self.export(bench, 8, ports=20, note="x" * 1_000_000)
        assert bench.text() == before
