"""The compiled executor.

The extension module ``bittrue.cpu._native`` is imported inside this package and nowhere else.
"""

from bittrue.cpu import _native
from bittrue.cpu.convert import convert_lanes, first_invalid
from bittrue.cpu.elementary import ACTIVATIONS, PRIMITIVES, elementary, power
from bittrue.cpu.operations import SMALL, kernel_of
from bittrue.cpu.postprocess import (
    KernelParameters,
    kernel_rule,
    matmul_post_process_codes,
    post_process_codes,
)
from bittrue.cpu.threads import thread_count

BINARY32_OPERATIONS: dict[str, str] = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "elementwise_mul": "mul",
    "div": "div",
}
"""Operations that the `binary32` kernel runs, and the name it knows them by."""

binary32 = _native.binary32

NATIVE_FILE: str = str(_native.__file__)
"""Where the extension lies: its bytes tell one build from another."""

level = _native.level
set_level = _native.set_level

__all__ = [
    "ACTIVATIONS",
    "BINARY32_OPERATIONS",
    "NATIVE_FILE",
    "PRIMITIVES",
    "SMALL",
    "KernelParameters",
    "binary32",
    "convert_lanes",
    "elementary",
    "first_invalid",
    "kernel_of",
    "kernel_rule",
    "level",
    "matmul_post_process_codes",
    "post_process_codes",
    "power",
    "set_level",
    "thread_count",
]
