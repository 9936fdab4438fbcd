"""Operators of PyTorch's database that LEAPP does not export, with the reason.

Each of them fails with an error of LEAPP; none gives a wrong value.
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
    "cpp": {
        **dict.fromkeys(
            """
            cdouble cfloat chalf complex fft.fft fft.fft2 fft.fftn fft.hfft fft.hfft2
            fft.hfftn fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.ihfft2 fft.ihfftn fft.irfft
            fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn linalg.eig linalg.eigvals polar
            stft view_as_complex
            """.split(),
            "C++ models have no complex numbers",
        ),
        **dict.fromkeys(
            """
            bfloat16 half
            """.split(),
            "C++ models have no half precision",
        ),
        **dict.fromkeys(
            """
            argwhere masked_select nonzero tensor_split unique unique_consecutive
            """.split(),
            _VALUES_DECIDE,
        ),
        **dict.fromkeys(
            """
            as_strided.partial_views
            """.split(),
            "it reads memory that is not part of its tensor",
        ),
        **dict.fromkeys(
            """
            _batch_norm_with_update _chunk_cat _native_batch_norm_legit
            _segment_reduce.lengths _segment_reduce.offsets _softmax_backward_data
            _unsafe_masked_index _unsafe_masked_index_put_accumulate _upsample_bilinear2d_aa
            cholesky_inverse cholesky_solve combinations frexp geqrf grid_sampler_2d
            grid_sampler_3d hash_tensor histc histogram histogramdd i0 igamma igammac
            index_reduce.amax index_reduce.amin index_reduce.mean index_reduce.prod
            linalg.cond linalg.eigh linalg.eigvalsh linalg.householder_product
            linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve linalg.lstsq
            linalg.lstsq.grad_oriented linalg.lu linalg.lu_factor linalg.lu_factor_ex
            linalg.lu_solve linalg.matrix_rank linalg.matrix_rank.hermitian linalg.pinv
            linalg.pinv.hermitian linalg.pinv.singular linalg.svd linalg.svdvals
            linspace.tensor_overload logspace.tensor_overload lu lu_solve lu_unpack
            masked.median masked_scatter matrix_exp max_pool2d_with_indices_backward median
            mode mvlgamma.mvlgamma_p_1 mvlgamma.mvlgamma_p_3 mvlgamma.mvlgamma_p_5 nanmedian
            narrow_copy native_batch_norm native_dropout_backward
            nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool2d
            nn.functional.adaptive_max_pool3d nn.functional.bilinear
            nn.functional.cross_entropy nn.functional.ctc_loss nn.functional.embedding_bag
            nn.functional.grid_sample nn.functional.interpolate.bicubic
            nn.functional.linear_cross_entropy nn.functional.linear_cross_entropy.chunked
            nn.functional.max_unpool1d nn.functional.max_unpool1d.grad
            nn.functional.max_unpool2d nn.functional.max_unpool2d.grad
            nn.functional.max_unpool3d nn.functional.max_unpool3d.grad
            nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss
            nn.functional.nll_loss nn.functional.pdist nn.functional.unfold nonzero_static
            norm.nuc ormqr pinverse polygamma.polygamma_n_0 polygamma.polygamma_n_1
            polygamma.polygamma_n_2 polygamma.polygamma_n_3 polygamma.polygamma_n_4 renorm
            resize_as_ special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0
            special.bessel_y1 special.chebyshev_polynomial_t special.chebyshev_polynomial_u
            special.chebyshev_polynomial_v special.chebyshev_polynomial_w special.erfcx
            special.hermite_polynomial_h special.hermite_polynomial_he special.i0e special.i1
            special.i1e special.laguerre_polynomial_l special.legendre_polynomial_p
            special.modified_bessel_i0 special.modified_bessel_i1 special.modified_bessel_k0
            special.modified_bessel_k1 special.ndtri special.polygamma.special_polygamma_n_0
            special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1
            special.shifted_chebyshev_polynomial_t special.shifted_chebyshev_polynomial_u
            special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w
            special.spherical_bessel_j0 special.zeta svd torch.ops.aten._safe_softmax.default
            """.split(),
            "no C++ is generated for it",
        ),
    },
}
