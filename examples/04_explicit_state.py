"""State that is declared by name: python examples/04_explicit_state.py [directory].

A history of three observations, newest first, enters a node with state_tensors() and leaves it with
update_state(). At run time it can be read, replaced, reset and restored.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import leapp
from leapp import annotate


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    weights = torch.tensor([0.5, 0.3, 0.2])

    leapp.start("history", save_path=str(folder))
    obs = annotate.input_tensors("filter", {"obs": torch.tensor([1.0, 2.0])})
    history = annotate.state_tensors("filter", {"history": torch.zeros(3, 2)})
    history = torch.cat([obs.unsqueeze(0), history[:-1]])
    annotate.update_state("filter", {"history": history})
    annotate.output_tensors("filter", {"smooth": weights @ history}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph()  # one pass is enough: the state is declared

    robot = leapp.InferenceManager(str(folder / "history" / "history.yaml"))
    obs = torch.tensor([1.0, 2.0])

    def tick(label: str) -> None:
        smooth = robot.run_policy({"filter/obs": obs})["filter/smooth"]
        print(f"{label}:", " ".join(f"{value:.4f}" for value in smooth.tolist()))

    tick("first")
    before = robot.state()
    tick("second")
    robot.set_state(before)
    tick("second again")
    robot.set_input_value("filter", "history", torch.ones(3, 2))
    tick("from ones")
    robot.reset()
    tick("from the start")


if __name__ == "__main__":
    main()
