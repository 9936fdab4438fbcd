"""Semantics of tensors: TensorSemantics, the enums, TemporalAxis, GraphConfigs, and their YAML."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import (
    GraphConfigs,
    History,
    InputKindEnum,
    Limits,
    OutputKindEnum,
    TemporalAxis,
    TensorSemantics,
    annotate,
)

INPUT_KINDS = {
    "JOINT_POSITION": "state/joint/position",
    "JOINT_VELOCITY": "state/joint/velocity",
    "JOINT_EFFORT": "state/joint/effort",
    "BODY_POSE": "state/body/pose",
    "BODY_VEL": "state/body/velocity",
    "BODY_ACC": "state/body/acceleration",
    "BODY_LINEAR_ACCELERATION": "state/body/linear_acceleration",
    "BODY_LINEAR_VELOCITY": "state/body/linear_velocity",
    "BODY_ANGULAR_ACCELERATION": "state/body/angular_acceleration",
    "BODY_ANGULAR_VELOCITY": "state/body/angular_velocity",
    "BODY_ROTATION": "state/body/rotation",
    "BODY_POSITION": "state/body/position",
    "WRENCH": "state/wrench",
    "VECTOR3D": "state/vector3d",
    "COMMAND_JOINT_POSITION": "command/joint/position",
    "COMMAND_JOINT_VELOCITY": "command/joint/velocity",
    "COMMAND_JOINT_TORQUES": "command/joint/torques",
    "COMMAND_BODY_ROTATION": "command/body/rotation",
    "COMMAND_BODY_VELOCITY": "command/body/velocity",
    "COMMAND_POSE": "command/body/pose",
}
OUTPUT_KINDS = {
    "KP": "kp",
    "KD": "kd",
    "JOINT_POSITION": "target/joint/position",
    "JOINT_VELOCITY": "target/joint/velocity",
    "JOINT_TORQUES": "target/joint/torques",
    "JOINT_EFFORT": "target/joint/effort",
    "BODY_POSITION": "target/body/position",
    "BODY_LINEAR_ACCELERATION": "target/body/linear_acceleration",
    "BODY_ORIENTATION": "target/body/orientation",
    "BODY_LINEAR_VELOCITY": "target/body/linear_velocity",
    "BODY_ANGULAR_ACCELERATION": "target/body/angular_acceleration",
}


@pytest.mark.parametrize(("name", "value"), INPUT_KINDS.items())
def test_input_kind(name: str, value: str) -> None:
    assert InputKindEnum[name].value == value


@pytest.mark.parametrize(("name", "value"), OUTPUT_KINDS.items())
def test_output_kind(name: str, value: str) -> None:
    assert OutputKindEnum[name].value == value


def input_port(bench: Workbench, shape: tuple[int, ...] = (2,), **fields: Any) -> dict[str, Any]:
    """Return the YAML of an input annotated with the given fields."""
    with bench.trace(dry_run=True):
        x = annotate.input_tensors("n", TensorSemantics(name="x", ref=torch.ones(shape), **fields))
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    bench.compile()
    port: dict[str, Any] = bench.yaml()["models"]["n"]["inputs"][0]
    return port


class TestFields:
    def test_defaults(self) -> None:
        x = torch.ones(2)
        semantics = TensorSemantics(name="x", ref=x)
        assert semantics.name == "x"
        assert semantics.ref is x
        assert semantics.kind is None
        assert semantics.element_names is None
        assert semantics.extra is None

    def test_positional(self) -> None:
        x = torch.ones(2)
        semantics = TensorSemantics("x", x, "custom/kind")
        assert (semantics.name, semantics.ref, semantics.kind) == ("x", x, "custom/kind")

    @pytest.mark.parametrize("ref", [None, 3, "x", [1.0]])
    def test_ref_must_be_a_tensor(self, ref: Any) -> None:
        with pytest.raises(TypeError):
            TensorSemantics(name="x", ref=ref)

    def test_ref_may_be_an_array(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors(
                "n", TensorSemantics(name="x", ref=np.ones(2, dtype=np.float32), kind="k")
            )
            annotate.output_tensors("n", {"y": torch.as_tensor(x) * 2}, export_with="jit")
        bench.compile()
        assert bench.yaml()["models"]["n"]["inputs"][0]["kind"] == "k"

    def test_name_is_required(self, bench: Workbench) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with refused("LP002", "name"):
            annotate.input_tensors("n", TensorSemantics(ref=torch.ones(2)))

    def test_unknown_field(self) -> None:
        with pytest.raises(TypeError):
            TensorSemantics(name="x", ref=torch.ones(2), colour="blue")  # type: ignore[call-arg]

    @pytest.mark.parametrize(
        ("given", "kept"),
        [
            ("imu", [["imu"]]),
            (["a", "b"], [["a", "b"]]),
            ([None, ["a", "b"]], [None, ["a", "b"]]),
            ([["r"], ["a", "b"]], [["r"], ["a", "b"]]),
        ],
        ids=["string", "flat", "per-dimension", "both"],
    )
    def test_element_names_are_normalised(self, given: Any, kept: Any) -> None:
        semantics = TensorSemantics(name="x", ref=torch.ones(1, 2), element_names=given)
        assert semantics.element_names == kept


class TestYaml:
    def test_plain_port(self, bench: Workbench) -> None:
        port = input_port(bench)
        assert port == {"name": "x", "dtype": "float32", "shape": [2], "type": "tensor"}
        assert list(port) == ["name", "dtype", "shape", "type"]

    def test_enum_kind_is_written_by_value(self, bench: Workbench) -> None:
        assert input_port(bench, kind=InputKindEnum.WRENCH)["kind"] == "state/wrench"

    def test_string_kind(self, bench: Workbench) -> None:
        assert input_port(bench, kind="custom/kind")["kind"] == "custom/kind"

    def test_flat_element_names(self, bench: Workbench) -> None:
        assert input_port(bench, element_names=["a", "b"])["element_names"] == [["a", "b"]]

    def test_flat_element_names_of_a_batch_of_one(self, bench: Workbench) -> None:
        port = input_port(bench, (1, 3), element_names=["hip", "knee", "ankle"])
        assert port["element_names"] == [["hip", "knee", "ankle"]]

    def test_string_element_name(self, bench: Workbench) -> None:
        assert input_port(bench, (1,), element_names="height")["element_names"] == [["height"]]

    def test_per_dimension_element_names(self, bench: Workbench) -> None:
        port = input_port(bench, (1, 1, 2), element_names=[None, ["r"], ["a", "b"]])
        assert port["element_names"] == [None, ["r"], ["a", "b"]]

    def test_dimensions_without_names_are_kept(self, bench: Workbench) -> None:
        port = input_port(bench, (1, 2), element_names=[None, ["a", "b"]])
        assert port["element_names"] == [None, ["a", "b"]]
        assert "LP415" in [each.code for each in leapp.diagnostics()]

    def test_names_that_every_program_reads_need_no_warning(self, bench: Workbench) -> None:
        input_port(bench, (1, 2), element_names=["a", "b"])
        input_port(bench, (4, 2), element_names=[TemporalAxis(20), None])
        assert "LP415" not in [each.code for each in leapp.diagnostics()]

    def test_extra_is_flattened(self, bench: Workbench) -> None:
        port = input_port(bench, extra={"unit": "rad", "limits": [-1.5, 1], "on": True})
        assert "extra" not in port
        assert (port["unit"], port["limits"], port["on"]) == ("rad", [-1.5, 1], True)

    def test_nested_extra(self, bench: Workbench) -> None:
        assert input_port(bench, extra={"frame": {"id": "base", "n": 3}})["frame"] == {
            "id": "base",
            "n": 3,
        }

    @pytest.mark.parametrize(
        "text", ["yes", "12", "1.5", "null", "a: b", "- x", "#c", "", " lead", "é", "two\nlines"]
    )
    def test_extra_strings_stay_strings(self, bench: Workbench, text: str) -> None:
        assert input_port(bench, extra={"note": text})["note"] == text

    def test_order_of_fields(self, bench: Workbench) -> None:
        port = input_port(bench, kind="k", element_names=["a", "b"], extra={"unit": "rad"})
        assert list(port) == ["name", "dtype", "shape", "type", "kind", "element_names", "unit"]

    def test_flow_style(self, bench: Workbench) -> None:
        input_port(bench, (1, 1, 2), element_names=[None, ["r"], ["a", "b"]])
        text = bench.text()
        assert "shape: [1, 1, 2]" in text
        assert "element_names: [null, [r], [a, b]]" in text

    def test_temporal_axis(self, bench: Workbench) -> None:
        port = input_port(bench, (1, 3, 2), element_names=[None, TemporalAxis(20), ["x", "y"]])
        assert port["element_names"] == [None, "__temporal_axis__", ["x", "y"]]
        assert port["temporal_period_ms"] == 20
        assert list(port)[-2:] == ["element_names", "temporal_period_ms"]

    def test_temporal_axis_with_a_fraction(self, bench: Workbench) -> None:
        port = input_port(bench, (4, 2), element_names=[TemporalAxis(period_ms=2.5), None])
        assert port["temporal_period_ms"] == 2.5

    @pytest.mark.parametrize("period", [0, -1, -0.5])
    def test_temporal_period_is_positive(self, period: float) -> None:
        with pytest.raises(ValueError):
            TemporalAxis(period)

    def test_semantics_on_outputs(self, bench: Workbench) -> None:
        with bench.trace():
            x = annotate.input_tensors("n", {"x": torch.ones(1, 2)})
            annotate.output_tensors(
                "n",
                [
                    TensorSemantics(
                        name="q",
                        ref=x * 2,
                        kind=OutputKindEnum.JOINT_POSITION,
                        element_names=["hip", "knee"],
                    )
                ],
                export_with="jit",
            )
        bench.compile()
        port = bench.yaml()["models"]["n"]["outputs"][0]
        assert port["kind"] == "target/joint/position"
        assert port["element_names"] == [["hip", "knee"]]

    def test_semantics_survive_reentry(self, bench: Workbench) -> None:
        with bench.trace():
            for _ in range(3):
                x = annotate.input_tensors(
                    "n", TensorSemantics(name="x", ref=torch.ones(2), kind="k")
                )
                annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        bench.compile()
        assert bench.yaml()["models"]["n"]["inputs"][0]["kind"] == "k"

    @pytest.mark.parametrize("key", ["name", "shape", "dtype", "type"])
    def test_extra_may_not_overwrite(self, bench: Workbench, key: str) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with pytest.raises(Exception, match=key):
            annotate.input_tensors(
                "n", TensorSemantics(name="x", ref=torch.ones(2), extra={key: "mine"})
            )

    @pytest.mark.parametrize(
        ("shape", "names"),
        [
            ((3,), ["a", "b"]),
            ((1, 3), [None, ["a", "b"]]),
            ((1, 3), ["a", "b"]),
            ((2,), [["a", "b"], ["c"]]),
        ],
        ids=["too few", "too few in a dimension", "flat", "too many dimensions"],
    )
    def test_number_of_element_names_is_checked(
        self, bench: Workbench, shape: tuple[int, ...], names: Any
    ) -> None:
        leapp.start("g", save_path=str(bench.folder))
        with refused("LP003", "element_names"):
            annotate.input_tensors(
                "n", TensorSemantics(name="x", ref=torch.ones(shape), element_names=names)
            )


class TestContract:
    def test_every_field_is_a_key_of_the_port(self, bench: Workbench) -> None:
        port = input_port(
            bench,
            (1, 3, 4),
            element_names=[None, TemporalAxis(20), ["w", "x", "y", "z"]],
            unit="1",
            frame="world",
            quaternion="wxyz",
            limits=Limits(lower=-1, upper=torch.ones(4), rate=5.5, on_violation="stop"),
            max_age_ms=50,
            history=History("newest_first", start=[1, 0, 0, 0]),
        )
        assert list(port.items())[6:] == [
            ("unit", "1"),
            ("frame", "world"),
            ("quaternion", "wxyz"),
            (
                "limits",
                {"lower": -1, "upper": [1.0] * 4, "rate": 5.5, "on_violation": "stop"},
            ),
            ("history", {"order": "newest_first", "start": [1, 0, 0, 0]}),
            ("max_age_ms", 50),
        ]

    @pytest.mark.parametrize("fallback", ["hold", "damp", 0.5, [0.5, 1]])
    def test_fallback_of_an_output(self, bench: Workbench, fallback: Any) -> None:
        with bench.trace(dry_run=True):
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            y = TensorSemantics("y", x * 2, fallback=fallback)
            annotate.output_tensors("n", y, export_with="jit")
        bench.compile()
        assert bench.yaml()["models"]["n"]["outputs"][0]["fallback"] == fallback

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"unit": ""}, "unit of 'x' must not be empty"),
            ({"quaternion": "xyzw"}, "which has 2"),
            ({"quaternion": "wzyx"}, "expected wxyz or xyzw, found 'wzyx'"),
            ({"limits": Limits(lower=float("nan"))}, "contains NaN"),
            ({"limits": Limits(lower=2, upper=[3, 1])}, "element 1 is above the upper"),
            ({"limits": Limits(upper=[1, 2, 3])}, "3 numbers, but the last dimension is 2"),
            ({"limits": Limits(rate=0)}, "a rate must be positive"),
            ({"limits": Limits(on_violation="explode")}, "must be clamp or stop"),  # type: ignore[arg-type]
            ({"max_age_ms": 0}, "must be positive"),
            ({"history": History("sideways")}, "oldest_first or newest_first"),  # type: ignore[arg-type]
            ({"fallback": "panic"}, "must be 'hold', 'damp' or numbers"),
            ({"unit": "rad", "extra": {"unit": "deg"}}, "may not overwrite 'unit'"),
        ],
    )
    def test_values_that_make_no_sense(
        self, bench: Workbench, fields: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(ValueError, match=said):
            input_port(bench, **fields)

    @pytest.mark.parametrize(
        "fields",
        [{"unit": 3}, {"limits": (-1, 1)}, {"limits": Limits(lower="a")}, {"history": "repeat"}],  # type: ignore[arg-type]
    )
    def test_values_of_another_type(self, fields: dict[str, Any]) -> None:
        with pytest.raises(TypeError):
            TensorSemantics("x", torch.ones(2), **fields)

    def test_a_side_it_is_not_for(self, bench: Workbench) -> None:
        with pytest.raises(ValueError, match="an input has no fallback"):
            input_port(bench, fallback="hold")


class TestGraphConfigs:
    def configs(self, bench: Workbench, configs: Any) -> Any:
        with bench.trace(dry_run=True):
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        bench.compile(graph_configs=configs)
        return bench.yaml()["pipeline"].get("configs")

    def test_absent_by_default(self, bench: Workbench) -> None:
        assert self.configs(bench, None) is None

    def test_frequency(self, bench: Workbench) -> None:
        assert self.configs(bench, GraphConfigs(frequency=50)) == {"frequency": 50}

    def test_extra_is_flattened(self, bench: Workbench) -> None:
        configs = GraphConfigs(frequency=500.5, extra={"robot": "r1", "gains": [1, 2.5]})
        assert self.configs(bench, configs) == {
            "frequency": 500.5,
            "robot": "r1",
            "gains": [1, 2.5],
        }

    def test_only_extra(self, bench: Workbench) -> None:
        assert self.configs(bench, GraphConfigs(extra={"robot": "r1"})) == {"robot": "r1"}

    def test_contract(self, bench: Workbench) -> None:
        command = TensorSemantics(
            "cmd", torch.ones(2), kind="command/body/velocity", element_names=["lin_x", "ang_z"]
        )
        with bench.trace(dry_run=True):
            x = annotate.input_tensors("n", command)
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        bench.compile(
            graph_configs=GraphConfigs(
                command_ranges={"lin_x": (-1, 1.5)},
                default_pose={"hip": 0.5},
                required_capabilities=["set_gains"],
            )
        )
        assert bench.yaml()["pipeline"]["configs"] == {
            "command_ranges": {"lin_x": [-1, 1.5]},
            "default_pose": {"hip": 0.5},
            "required_capabilities": ["set_gains"],
        }

    def test_a_range_of_no_command(self, bench: Workbench) -> None:
        with pytest.raises(ValueError, match=r"\[B29\].*has an element 'speed'"):
            self.configs(bench, GraphConfigs(command_ranges={"speed": (0, 1)}))

    def test_contract_is_given_once(self) -> None:
        with refused("LP003", "'default_pose'"):
            GraphConfigs(default_pose={"hip": 0}, extra={"default_pose": {}})

    @pytest.mark.parametrize("frequency", [0, -50])
    def test_frequency_is_positive(self, frequency: float) -> None:
        with pytest.raises(ValueError):
            GraphConfigs(frequency=frequency)
