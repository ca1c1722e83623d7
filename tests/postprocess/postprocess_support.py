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
