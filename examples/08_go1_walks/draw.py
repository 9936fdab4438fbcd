"""Draws a walk that walk.cpp wrote: commanded and measured velocity, and a film strip.

    MUJOCO_GL=egl .cache/mjlab/bin/python examples/08_go1_walks/draw.py walk.csv go1.xml [directory]

writes ``velocity.png`` and ``strip.png``. Needs matplotlib, and OpenGL for the strip.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import mujoco
import numpy as np
from numpy.typing import NDArray

matplotlib.use("Agg")
from matplotlib import pyplot

FRAMES = 6  # of the strip, 60 ms apart
WIDTH, HEIGHT = 260, 240


def draw_velocity(walk: NDArray[np.float64], path: Path) -> None:
    """Draw the commanded over the measured velocity."""
    figure, axes = pyplot.subplots(3, 1, sharex=True, figsize=(9, 5.5), layout="constrained")
    labels = ("forward, m/s", "left, m/s", "turning, rad/s")
    for i, (axis, label) in enumerate(zip(axes, labels, strict=True)):
        axis.plot(walk[:, 0], walk[:, 4 + i], color="tab:blue", linewidth=0.8, label="measured")
        axis.plot(walk[:, 0], walk[:, 1 + i], color="black", linewidth=1.6, label="commanded")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend(loc="lower left", ncols=2)
    axes[2].set_xlabel("time, s")
    figure.savefig(path, dpi=90)


def draw_strip(walk: NDArray[np.float64], robot: Path, path: Path) -> None:
    """Draw the robot at several times of its fastest walk, side by side."""
    spec = mujoco.MjSpec.from_file(str(robot))
    spec.add_texture(
        name="floor",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.75, 0.78, 0.82],
        rgb2=[0.62, 0.66, 0.72],
        width=200,
        height=200,
    )
    material = spec.add_material(name="floor", texrepeat=[4, 4], texuniform=True)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(type=plane, size=[0, 0, 0.01], material="floor")
    spec.visual.headlight.ambient[:] = 0.5
    model = spec.compile()
    data = mujoco.MjData(model)
    camera = mujoco.MjvCamera()
    camera.distance, camera.azimuth, camera.elevation = 1.1, 90, -25
    frames = []
    renderer = mujoco.Renderer(model, HEIGHT, WIDTH)
    for row in walk[300 : 300 + 3 * FRAMES : 3]:
        data.qpos[:] = row[7:]
        mujoco.mj_forward(model, data)
        camera.lookat[:] = [row[7], row[8], 0.2]
        renderer.update_scene(data, camera)
        frames.append(renderer.render().copy())
    pyplot.imsave(path, np.concatenate(frames, axis=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("walk", type=Path)
    parser.add_argument("robot", type=Path)
    parser.add_argument("folder", nargs="?", type=Path, default=Path())
    given = parser.parse_args()
    walk = np.loadtxt(given.walk, delimiter=",")
    draw_velocity(walk, given.folder / "velocity.png")
    draw_strip(walk, given.robot, given.folder / "strip.png")


if __name__ == "__main__":
    main()
