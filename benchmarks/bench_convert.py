"""What converting an array costs: beside a copy of the same bytes, and beside other libraries.

Every input is random bit patterns, so that NaNs, infinities and subnormals come as often as their
codes do; status is on, as it always is. Ours runs on one thread and, like the peers, allocates its
result, except beside the copy, where both sides write into an array that exists. The peers give no
status and differ from the requirement in bits (see the documentation of conversions): ml_dtypes and
PyTorch take `astype` and `to`, gfloat rounds to a value and encodes it.

A copy reads and writes as many bytes as the conversion does, half of them each way.
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from timing import QUICK, Budget, Row, Work, together

import bittrue
from bittrue import cpu
from bittrue.conversion import convert
from bittrue.encoding import Format, Rounding, formats

LANES = 1 << 24
SLOW_LANES = 1 << 16
"""Lanes for a peer that takes a microsecond a lane; its time is scaled up to `LANES`."""

ENCODED = ("E4M3", "E5M2", "HiF8", "E3M2", "E2M1X2", "E8M0", "BF16", "FP16", "TF32")
PAIRS = (
    *(("FP32", name) for name in ENCODED),
    *((name, "FP32") for name in ENCODED),
    ("BF16", "E4M3"), ("FP16", "E4M3"), ("E4M3", "BF16"), ("E2M1X2", "BF16"), ("FP16", "BF16"),
    ("FP64", "FP32"), ("FP32", "FP64"), ("FP32", "S8"), ("S32", "FP32"), ("S32", "S8"),
)  # fmt: skip

DTYPES: dict[str, Any] = {
    "FP64": np.float64, "FP32": np.float32, "FP16": np.float16, "BF16": ml_dtypes.bfloat16,
    "E4M3": ml_dtypes.float8_e4m3fn, "E5M2": ml_dtypes.float8_e5m2,
    "E3M2": ml_dtypes.float6_e3m2fn, "E8M0": ml_dtypes.float8_e8m0fnu,
    "E2M1X2": ml_dtypes.float4_e2m1fn, "S8": np.int8, "S32": np.int32,
}  # fmt: skip
"""What NumPy and ml_dtypes have; a packed lane is a whole byte there."""

TORCH = {
    "FP64": "float64", "FP32": "float32", "FP16": "float16", "BF16": "bfloat16",
    "E4M3": "float8_e4m3fn", "E5M2": "float8_e5m2", "E8M0": "float8_e8m0fnu",
    "S8": "int8", "S32": "int32",
}  # fmt: skip

GFLOAT = {
    "E4M3": "ocp_e4m3", "E5M2": "ocp_e5m2", "E3M2": "ocp_e3m2", "E2M1X2": "ocp_e2m1",
    "BF16": "bfloat16", "FP16": "binary16",
}  # fmt: skip


def _is_packed(fmt: Format) -> bool:
    return fmt.lanes_per_carrier > 1


def _carrier(fmt: Format) -> Any:
    return np.dtype(f"uint{max(8, fmt.integer_bits or fmt.carrier_bits)}")


def _random_carriers(fmt: Format, lanes: int) -> Any:
    dtype = _carrier(fmt)
    size = lanes // 2 if _is_packed(fmt) else lanes
    carriers = np.frombuffer(np.random.default_rng(1).bytes(size * dtype.itemsize), dtype).copy()
    low, high = fmt.low_zero_bits, fmt.high_zero_bits
    carriers &= dtype.type((1 << (8 * dtype.itemsize - high)) - (1 << low))
    return carriers


def _into(source: Format, destination: Format, carriers: Any, lanes: int) -> tuple[Work, int]:
    """Return the kernels on arrays that exist, and the bytes that they read and write."""
    size = lanes // 2 if _is_packed(destination) else lanes
    out = np.empty(size, _carrier(destination))
    work = partial(
        cpu.convert_lanes, source, destination, carriers, out, lanes, Rounding.NONE,
        saturate=False, random_bits=None, flags=None, threads=1,
    )  # fmt: skip
    return work, carriers.nbytes + out.nbytes


def copies(budget: Budget) -> Iterator[Row]:
    """Convert beside a copy of as many bytes."""
    for names in PAIRS:
        source, destination = formats[names[0]], formats[names[1]]
        carriers = _random_carriers(source, LANES)
        work, moved = _into(source, destination, carriers, LANES)
        given, taken = np.ones(moved // 2, np.uint8), np.zeros(moved // 2, np.uint8)
        ours, peer = together(budget, work, partial(np.copyto, taken, given))
        note = f"{moved / ours.minimum:.3g} of {moved / peer.minimum:.3g} GB/s"
        yield Row("convert, in place", f"{source} to {destination}", ours, f"copy ({note})", peer)


def peers(budget: Budget) -> Iterator[Row]:
    """Convert beside `astype` of NumPy and ml_dtypes, PyTorch's `to`, and gfloat."""
    for names in PAIRS:
        source, destination = formats[names[0]], formats[names[1]]
        carriers = _random_carriers(source, LANES)
        label = f"{source} to {destination}"
        ours_work = partial(
            convert, carriers, destination, source, threads=1,
            count=LANES if _is_packed(source) else None,
        )  # fmt: skip
        found = dict(_peers_of(names, carriers))
        samples = together(_short(budget), ours_work, *(work for work, _ in found.values()))
        for (name, (_, scale)), sample in zip(found.items(), samples[1:], strict=True):
            scaled = type(sample)(sample.minimum * scale, sample.median * scale)
            yield Row("convert", label, samples[0], name, scaled)
        for name in ("torch", "gfloat"):
            if name not in found and importlib.util.find_spec(name) is None:
                yield Row("convert", label, samples[0], name, note=f"{name} is not installed")


def _short(budget: Budget) -> Budget:
    """Return a budget for calls of up to a second."""
    return budget if budget == QUICK else Budget(min(budget.repeats, 7), budget.least_ns)


def _peers_of(names: tuple[str, str], carriers: Any) -> Iterator[tuple[str, tuple[Work, int]]]:
    """Yield the peers that have both types: name, and a call with the factor of its time."""
    source, destination = names
    if source in DTYPES and destination in DTYPES:
        array = carriers
        if source == "E2M1X2":
            array = np.stack([carriers & 15, carriers >> 4], axis=-1).reshape(-1)  # unpacked
        array = array.view(DTYPES[source])
        both = {DTYPES[source], DTYPES[destination]}
        own = any(np.dtype(dtype).kind == "V" or dtype not in (
            np.float64, np.float32, np.float16, np.int8, np.int32) for dtype in both)  # fmt: skip
        yield "ml_dtypes" if own else "numpy", (_quiet(array.astype, DTYPES[destination]), 1)
    if source in TORCH and destination in TORCH and importlib.util.find_spec("torch") is not None:
        import torch  # noqa: PLC0415 - optional, and slow to import

        torch.set_num_threads(1)
        signed = torch.from_numpy(carriers.view(f"int{8 * carriers.itemsize}"))
        tensor = signed.view(getattr(torch, TORCH[source]))
        yield "torch", (partial(tensor.to, getattr(torch, TORCH[destination])), 1)
    if source == "FP32" and destination in GFLOAT and importlib.util.find_spec("gfloat"):
        import gfloat  # noqa: PLC0415 - optional
        import gfloat.formats  # noqa: PLC0415 - optional

        info = getattr(gfloat.formats, f"format_info_{GFLOAT[destination]}")
        some = carriers[:SLOW_LANES].view(np.float32)
        endless = info.num_infs + info.num_nans > 0
        # It refuses NaNs where the type has none.
        some = np.where(np.isnan(some) & (not endless), np.float32(0), some)

        def both_steps() -> object:
            rounded = gfloat.round_ndarray(info, some, sat=not endless)
            return gfloat.encode_ndarray(info, rounded)

        yield "gfloat", (_quiet(both_steps), LANES // SLOW_LANES)


def _quiet(work: Any, *arguments: Any) -> Work:
    """Return a call that says nothing about NaNs and overflows."""

    def run() -> object:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return work(*arguments)

    return run


def threads(budget: Budget) -> Iterator[Row]:
    """Convert on every core beside one thread."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    for name in ("E4M3", "BF16", "E2M1X2"):
        carriers = _random_carriers(formats["FP32"], LANES)
        run = partial(bittrue.convert, carriers, name, "fp32")
        ours, one = together(budget, partial(run, threads=cores), partial(run, threads=1))
        yield Row("convert, threads", f"FP32 to {name}, {cores} threads", ours, "one thread", one)


BENCHMARKS = (copies, peers, threads)
