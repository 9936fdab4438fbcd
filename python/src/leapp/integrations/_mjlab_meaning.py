"""Semantics of the quantities of an mjlab task: kinds, element names, units and frames."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from leapp import InputKindEnum, OutputKindEnum, TensorSemantics

_XYZ = ("x", "y", "z")
_QUATERNION = ("qw", "qx", "qy", "qz")
_LINEAR = ("lin_vel_x", "lin_vel_y", "lin_vel_z")
_ANGULAR = ("ang_vel_x", "ang_vel_y", "ang_vel_z")


@dataclasses.dataclass(frozen=True)
class Meaning:
    """Semantics of a port; the names are those of the last dimensions."""

    kind: InputKindEnum | OutputKindEnum | str | None = None
    names: Sequence[Sequence[str]] = ()
    unit: str | None = None
    frame: str | None = None
    quaternion: Literal["wxyz", "xyzw"] | None = None

    def semantics(self, name: str, tensor: Any, connection: str) -> TensorSemantics:
        """Return the port of that name; `connection` names the value in mjlab."""
        fits = [len(names) for names in self.names] == list(tensor.shape)[-len(self.names) :]
        return TensorSemantics(
            name,
            tensor,
            kind=self.kind,
            element_names=[list(names) for names in self.names] if self.names and fits else None,
            unit=self.unit,
            frame=self.frame,
            quaternion=self.quaternion,
            extra={"mjlab_connection": connection},
        )


#: By the end of the name of a property of `EntityData`, without its frame: root_link_lin_vel_b,
#: site_pos_w, ...
_SPATIAL: Mapping[str, Meaning] = {
    "pose": Meaning(InputKindEnum.BODY_POSE, [_XYZ + _QUATERNION], quaternion="wxyz"),
    "pos": Meaning(InputKindEnum.BODY_POSITION, [_XYZ], "m"),
    "quat": Meaning(InputKindEnum.BODY_ROTATION, [_QUATERNION], quaternion="wxyz"),
    "lin_vel": Meaning(InputKindEnum.BODY_LINEAR_VELOCITY, [_LINEAR], "m/s"),
    "ang_vel": Meaning(InputKindEnum.BODY_ANGULAR_VELOCITY, [_ANGULAR], "rad/s"),
    "vel": Meaning(InputKindEnum.BODY_VEL, [_LINEAR + _ANGULAR]),
    "projected_gravity": Meaning(InputKindEnum.VECTOR3D, [_XYZ], "1"),
    "heading": Meaning("state/body/heading", unit="rad"),
}

#: For joints: the kind, and the unit for revolute and for prismatic ones.
_JOINTS: Mapping[str, tuple[InputKindEnum | str, str, str]] = {
    "joint_pos": (InputKindEnum.JOINT_POSITION, "rad", "m"),
    "joint_pos_biased": (InputKindEnum.JOINT_POSITION, "rad", "m"),
    "joint_vel": (InputKindEnum.JOINT_VELOCITY, "rad/s", "m/s"),
    "joint_acc": ("state/joint/acceleration", "rad/s^2", "m/s^2"),
    "qfrc_actuator": (InputKindEnum.JOINT_EFFORT, "N*m", "N"),
    "qfrc_external": (InputKindEnum.JOINT_EFFORT, "N*m", "N"),
}

#: MuJoCo's own sensors, by the name of their type.
_SENSORS: Mapping[str, Meaning] = {
    "GYRO": _SPATIAL["ang_vel"],
    "VELOCIMETER": _SPATIAL["lin_vel"],
    "ACCELEROMETER": Meaning(InputKindEnum.BODY_LINEAR_ACCELERATION, [_XYZ], "m/s^2"),
    "FORCE": Meaning(InputKindEnum.VECTOR3D, [_XYZ], "N"),
    "TORQUE": Meaning(InputKindEnum.VECTOR3D, [_XYZ], "N*m"),
    "MAGNETOMETER": Meaning(InputKindEnum.VECTOR3D, [_XYZ]),
    "FRAMEPOS": _SPATIAL["pos"],
    "FRAMEQUAT": _SPATIAL["quat"],
    "FRAMEXAXIS": Meaning(InputKindEnum.VECTOR3D, [_XYZ], "1"),
    "FRAMEYAXIS": Meaning(InputKindEnum.VECTOR3D, [_XYZ], "1"),
    "FRAMEZAXIS": Meaning(InputKindEnum.VECTOR3D, [_XYZ], "1"),
    "FRAMELINVEL": _SPATIAL["lin_vel"],
    "FRAMEANGVEL": _SPATIAL["ang_vel"],
    "FRAMELINACC": Meaning(InputKindEnum.BODY_LINEAR_ACCELERATION, [_XYZ], "m/s^2"),
    "FRAMEANGACC": Meaning(InputKindEnum.BODY_ANGULAR_ACCELERATION, [_XYZ], "rad/s^2"),
}

#: Fields of the data classes of cameras, ray casters and contact sensors.
_FIELDS: Mapping[str, Meaning] = {
    "depth": Meaning("state/camera/image", unit="m"),
    "rgb": Meaning("state/camera/image", [("red", "green", "blue")]),
    "segmentation": Meaning("state/camera/image", [("object", "type")]),
    "distances": Meaning("state/rays/distance", unit="m"),
    "heights": Meaning("state/rays/height", unit="m"),
    "hit_pos_w": Meaning("state/rays/position", [_XYZ], "m", "world"),
    "normals_w": Meaning("state/rays/normal", [_XYZ], "1", "world"),
    "pos_w": dataclasses.replace(_SPATIAL["pos"], frame="world"),
    "frame_pos_w": dataclasses.replace(_SPATIAL["pos"], frame="world"),
    "quat_w": dataclasses.replace(_SPATIAL["quat"], frame="world"),
    "frame_quat_w": dataclasses.replace(_SPATIAL["quat"], frame="world"),
    "force": Meaning("state/contact/force", [_XYZ], "N"),
}

#: Values that the setters of an entity receive: the kind, and the units as above.
_TARGETS: Mapping[str, tuple[OutputKindEnum | str, str, str]] = {
    "set_joint_position_target": (OutputKindEnum.JOINT_POSITION, "rad", "m"),
    "set_joint_velocity_target": (OutputKindEnum.JOINT_VELOCITY, "rad/s", "m/s"),
    "set_joint_effort_target": (OutputKindEnum.JOINT_EFFORT, "N*m", "N"),
    "set_tendon_len_target": ("target/tendon/length", "m", "m"),
    "set_tendon_vel_target": ("target/tendon/velocity", "m/s", "m/s"),
    "set_tendon_effort_target": ("target/tendon/effort", "N", "N"),
    "set_site_effort_target": ("target/site/effort", "N", "N"),
}

#: The setters with which action terms move an entity.
TARGETS = tuple(_TARGETS)


def of_entity(entity: Any, name: str) -> Meaning:
    """Return the semantics of a property of an entity's data."""
    if name in _JOINTS:
        return Meaning(_JOINTS[name][0], [entity.joint_names], _unit(entity, None, _JOINTS[name]))
    found = re.fullmatch(r"(?:(root|body|geom|site)_)?(?:link_|com_)?(.+)_([wb])", name)
    if found is None or found[2] not in _SPATIAL:
        return Meaning()
    meaning = _SPATIAL[found[2]]
    owners = [getattr(entity, f"{found[1]}_names")] if found[1] in ("body", "geom", "site") else []
    names = [*owners, *meaning.names]
    frame = "world" if found[3] == "w" else entity.body_names[0]
    return dataclasses.replace(meaning, names=names, frame=frame)


def of_sensor(env: Any, name: str) -> Meaning:
    """Return the semantics of one of MuJoCo's own sensors, in the frame in which it is mounted."""
    import mujoco

    model = env.sim.mj_model
    sensor = model.sensor(name)
    kind = mujoco.mjtSensor(int(sensor.type[0])).name.removeprefix("mjSENS_")
    meaning = _SENSORS.get(kind, Meaning())
    by_reference = kind.startswith("FRAME")
    of_type = sensor.reftype[0] if by_reference else sensor.objtype[0]
    identity = int(sensor.refid[0] if by_reference else sensor.objid[0])
    frame = mujoco.mj_id2name(model, int(of_type), identity) if identity >= 0 else "world"
    return dataclasses.replace(meaning, frame=(frame or "world").split("/")[-1])


def of_field(name: str) -> Meaning:
    """Return the semantics of a field of a sensor's data class."""
    return _FIELDS.get(name, Meaning())


def of_command(term: Any, name: str) -> Meaning:
    """Return the semantics of a command."""
    if name == "command" and hasattr(term, "vel_command_b"):
        names = ("lin_vel_x", "lin_vel_y", "ang_vel_z")
        frame = term.robot.body_names[0]
        return Meaning(InputKindEnum.COMMAND_BODY_VELOCITY, [names], frame=frame)
    if name.endswith("_pos"):
        return Meaning("command/body/target_position", [_XYZ], "m", "world")
    return Meaning(f"command/{name}")


def of_target(entity: Any, setter: str, names: Sequence[str]) -> Meaning:
    """Return the semantics of the values that an action term passes to a setter of an entity."""
    return Meaning(_TARGETS[setter][0], [names], _unit(entity, names, _TARGETS[setter]))


def _unit(entity: Any, names: Sequence[str] | None, units: tuple[Any, str, str]) -> str | None:
    """Return the unit of these joints; none for revolute and prismatic joints together."""
    import mujoco

    chosen = [
        joint.type == mujoco.mjtJoint.mjJNT_SLIDE
        for joint in entity.spec.joints
        if joint.type != mujoco.mjtJoint.mjJNT_FREE
        and (names is None or joint.name.split("/")[-1] in names)
    ]
    if any(chosen) and not all(chosen):
        return None
    return units[2] if any(chosen) else units[1]
