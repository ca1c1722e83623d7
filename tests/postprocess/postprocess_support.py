"""What the tests of post-processing share: the known-good cases and ways to call the library."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from bittrue.encoding import Status
from bittrue.postprocess import PostProcess
from bittrue.postprocess.modes import GROUP_N

DATA = Path(__file__).parents[1] / "data" / "postprocess.json"
DTYPES = {"FP32": np.float32, "S32": np.int32, "U32": np.uint32}


def known_cases() -> dict[str, Any]:
    """Return the known-good cases."""
    return json.loads(DATA.read_text())


def number(text: Any) -> Any:
    """Read hex text; None and lists of it stay what they are."""
    if text is None:
        return None
    return [number(item) for item in text] if isinstance(text, list) else int(text, 16)


def flags_of(text: str) -> Status:
    """Read flags joined by a bar."""
    flags = Status(0)
    for name in text.split("|"):
        flags |= Status(0) if name == "0" else Status[name]
    return flags


def accumulators(kind: str, codes: Any) -> np.ndarray:
    """Return accumulator codes as an array of their dtype."""
    return (np.array(codes, np.int64) & 0xFFFFFFFF).astype(np.uint32).view(DTYPES[kind])


def codes(array: np.ndarray) -> list:
    """Return an array as unsigned codes."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").tolist()


def control_of(case: dict[str, Any]) -> PostProcess:
    """Build the control record of a matrix case."""
    group = case.get("group_n_code", 0)
    return PostProcess(
        case["mode"],
        case["relu"],
        GROUP_N[group],
        bool(case.get("row_max_en")),
        bool(case.get("group_max_en")),
        bool(case.get("row_max_init")),
        bool(case.get("max_abs_en")),
        case["rmode"],
        bool(case["sat"]),
    )


def exact_affine(
    significand: Any, exponent: Any, negative: Any, offset: Any, *, saturate: bool = False,
    offset_bits: int = 9, d_bits: int = 8,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Round to nearest even, saturate, add, clamp or wrap into D: int64 alone.

    `significand` is below 2^43; the value is ``significand * 2**exponent``. Returns D as integers,
    what was outside a range, and what was rounded.
    """
    up = np.clip(exponent, 0, 20)  # beyond, every nonzero number is outside the intermediate
    down = np.clip(-exponent, 0, 46)  # beyond, every number is below a quarter
    kept = (significand << up) >> down
    rest = (significand << up) - (kept << down)
    half = (np.int64(1) << down) >> 1
    inexact = rest != 0
    kept += inexact & ((rest > half) | ((rest == half) & (kept & 1 == 1)))
    value = np.where(negative, -kept, kept)
    saturated = np.clip(value, -(1 << (offset_bits - 1)), (1 << (offset_bits - 1)) - 1)
    total = saturated + offset
    least = -(1 << (d_bits - 1))
    clamped = np.clip(total, least, -1 - least)
    outside = (saturated != value) | (clamped != total)
    wrapped = ((total - least) & ((1 << d_bits) - 1)) + least
    return clamped if saturate else wrapped, outside, inexact
