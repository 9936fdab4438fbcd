"""Feedback from one node to another one: python examples/02_feedback_example.py [directory].

The export goes to the directory, by default the current one.

The feedback is not declared: the second pass shows LEAPP where the memory comes from.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import leapp
from leapp import annotate


def mix(observation: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
    return torch.tanh(observation - 0.5 + 0.25 * memory)


def blend(context: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
    return 0.8 * memory + 0.2 * context


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    memory = torch.zeros(1)

    leapp.start("feedback", save_path=str(folder))
    for _ in range(2):  # the second tick shows the feedback
        observation, remembered = annotate.input_tensors(
            "policy_step", {"observation": torch.ones(1), "memory_in": memory}
        )
        context = mix(observation, remembered)
        action = torch.clamp(2.0 * context, -1.0, 1.0)
        context, action = annotate.output_tensors(
            "policy_step", {"context": context, "action": action}, export_with="jit"
        )

        context, remembered = annotate.input_tensors(
            "memory_update", {"context": context, "memory_prev": memory}
        )
        memory = annotate.output_tensors(
            "memory_update", {"memory_out": blend(context, remembered)}, export_with="jit"
        )
    leapp.stop()
    leapp.compile_graph()

    robot = leapp.InferenceManager(str(folder / "feedback" / "feedback.yaml"))
    print("fed back into:", ", ".join(robot.feedback_inputs))
    for tick in range(4):
        outputs = robot.run_policy({"policy_step/observation": torch.ones(1)})
        print(f"tick {tick}: {outputs['policy_step/action'].item():.4f}")


if __name__ == "__main__":
    main()
