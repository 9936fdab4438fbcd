"""Modules from which programs written for NVIDIA's ``leapp`` import names of ``leapp``."""
