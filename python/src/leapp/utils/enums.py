"""The kinds of ports, under the name that NVIDIA's ``leapp`` gives this module."""

from ..enums import InputKindEnum, OutputKindEnum

__all__ = ["InputKindEnum", "OutputKindEnum"]
