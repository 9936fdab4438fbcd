"""Modules that programs written for NVIDIA's ``leapp`` import names from; ``leapp`` has them."""
