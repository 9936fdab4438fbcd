"""Where programs written for NVIDIA's ``leapp`` import some names from; ``leapp`` itself has them."""
