"""Operators of PyTorch's database that LEAPP does not export, and why.

Each of them fails with an error of LEAPP's own; none gives a wrong value.
"""

from __future__ import annotations

_VALUES_DECIDE = "the size of the result depends on the values"
_NUMBERS_DECIDE = "a tensor says where to split: its numbers are read while the operator runs"

_COMPLEX = "the output is complex, which ONNX Runtime cannot hold"
_SIGNS = "the signs of the vectors are not defined, and ONNX would choose other ones than LAPACK"
_PIVOTS = "symmetric indefinite factors have no ONNX operator; LAPACK's pivoting is its own"
_NO_OPERATOR = "there is neither an ONNX operator for it nor a way to write it with others"

EXPECTED: dict[str, dict[str, str]] = {
    "jit": {
        "as_strided.partial_views": "it reads memory that is not part of its tensor",
        "chalf": "bundles have no half-precision complex numbers",
        "tensor_split": _NUMBERS_DECIDE,
    },
    "onnx": {
        "_segment_reduce.lengths": _NO_OPERATOR,
        "_segment_reduce.offsets": _NO_OPERATOR,
        "argwhere": _VALUES_DECIDE,
        "as_strided.partial_views": "it reads memory that is not part of its tensor",
        "cdouble": _COMPLEX,
        "cfloat": _COMPLEX,
        "chalf": "bundles have no half-precision complex numbers",
        "complex": _COMPLEX,
        "fft.fft": _COMPLEX,
        "fft.fft2": _COMPLEX,
        "fft.fftn": _COMPLEX,
        "fft.ifft": _COMPLEX,
        "fft.ifft2": _COMPLEX,
        "fft.ifftn": _COMPLEX,
        "fft.ihfft": _COMPLEX,
        "fft.ihfft2": _COMPLEX,
        "fft.ihfftn": _COMPLEX,
        "fft.rfft": _COMPLEX,
        "fft.rfft2": _COMPLEX,
        "fft.rfftn": _COMPLEX,
        "hash_tensor": _NO_OPERATOR,
        "linalg.eig": _COMPLEX,
        "linalg.eigh": _SIGNS,
        "linalg.eigvals": _COMPLEX,
        "linalg.ldl_factor": _PIVOTS,
        "linalg.ldl_factor_ex": _PIVOTS,
        "linalg.ldl_solve": _PIVOTS,
        "linalg.svd": _SIGNS,
        "masked_select": _VALUES_DECIDE,
        "nn.functional.ctc_loss": _NO_OPERATOR,
        "nn.functional.linear_cross_entropy.chunked": _NO_OPERATOR,
        "nn.functional.linear_cross_entropy.chunked_none": _NO_OPERATOR,
        "nonzero": _VALUES_DECIDE,
        "polar": _COMPLEX,
        "resize_as_": _NO_OPERATOR,
        "stft": _COMPLEX,
        "svd": _SIGNS,
        "tensor_split": _NUMBERS_DECIDE,
        "unique": _VALUES_DECIDE,
        "unique_consecutive": _VALUES_DECIDE,
        "view_as_complex": _COMPLEX,
    },
    "cpp": {},
}
