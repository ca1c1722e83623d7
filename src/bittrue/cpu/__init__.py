"""The compiled executor.

The extension module ``bittrue.cpu._native`` is imported inside this package and nowhere else.
"""

from bittrue.cpu import _native
from bittrue.cpu.convert import convert_lanes, first_invalid
from bittrue.cpu.operations import SMALL, kernel_of, thread_count
from bittrue.cpu.postprocess import (
    KernelParameters,
    kernel_rule,
    matmul_post_process_codes,
    post_process_codes,
)

BINARY32_OPERATIONS: dict[str, str] = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "elementwise_mul": "mul",
    "div": "div",
}
"""Operations that the `binary32` kernel runs, and the name it knows them by."""

binary32 = _native.binary32

__all__ = [
    "BINARY32_OPERATIONS",
    "SMALL",
    "KernelParameters",
    "binary32",
    "convert_lanes",
    "first_invalid",
    "kernel_of",
    "kernel_rule",
    "matmul_post_process_codes",
    "post_process_codes",
    "thread_count",
]
