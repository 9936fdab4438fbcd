"""SB3 Contrib: policies and ``model.zip`` files of RecurrentPPO, MaskablePPO, TQC, QR-DQN, ..

The functions are those of :mod:`leapp.integrations.sb3`. The hidden state of a recurrent policy
becomes state of the bundle, and a maskable policy has a further input ``action_masks``.
"""

from __future__ import annotations

from .sb3 import add_arguments, export_checkpoint, export_policy, run

__all__ = ["add_arguments", "export_checkpoint", "export_policy", "run"]
