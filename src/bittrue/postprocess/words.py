"""Vectors of parameter words, as arrays of uint64.

Belongs here: reading words that a caller gave, checking many of them, building vectors. Never here:
what one word means (`parameters`). Clause: postprocess-and-formats, Decision 180.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bittrue._records import shown
from bittrue.errors import RefusedTypeError, RejectedError
from bittrue.postprocess import parameters
from bittrue.postprocess.modes import Mode, PreQuant

Words = npt.NDArray[np.uint64]
Pattern = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Words as a caller gave them.

    `vector` tells a row of words from a single one. Where they are no words at all, `foreign` says
    what came instead; `illegal` is the index and value of one that no 64 bits hold.
    """

    words: Words
    vector: bool
    foreign: str | None = None
    illegal: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.words)


_NONE = np.empty(0, np.uint64)


def read_words(given: Any) -> Given:
    """Read one word or a vector of shape (N,) or (1, N): uint64 or Python ints. Refuses nothing."""
    if isinstance(given, int) and not isinstance(given, bool):
        return _of_ints([given], vector=False)
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        row: Sequence[Any] = given
        if len(row) == 1 and isinstance(row[0], Sequence) and not isinstance(row[0], str | bytes):
            row = row[0]
        plain = [int(item) if isinstance(item, np.uint64) else item for item in row]
        if all(isinstance(item, int) and not isinstance(item, bool) for item in plain):
            return _of_ints(plain, vector=True)
        return Given(_NONE, vector=True, foreign="a sequence of other things than ints")
    array = np.asarray(given)
    if array.dtype.kind != "u" or array.dtype.itemsize != 8:
        came = shown(given) if array.dtype == object else f"dtype {array.dtype}"
        return Given(_NONE, vector=array.ndim > 0, foreign=came)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[0] != 1):
        return Given(_NONE, vector=True, foreign=f"shape {array.shape}")
    flat = np.ascontiguousarray(array, dtype=np.uint64).reshape(-1)
    return Given(flat, vector=array.ndim > 0)


def _of_ints(values: list[int], *, vector: bool) -> Given:
    for index, value in enumerate(values):
        if not 0 <= value <= parameters.WORD_MASK:
            count = np.zeros(len(values), np.uint64)
            return Given(count, vector=vector, illegal=(index, value))
    return Given(np.array(values, np.uint64), vector=vector)


# --- legality of many ---------------------------------------------------------------------------


def first_illegal_quant(mode: Mode, words: Words) -> int | None:
    """Return the index of the first word that `parameters.fault_of_quant` finds illegal."""
    bad = (words & np.uint64(~parameters.used_mask(mode) & parameters.WORD_MASK)) != 0
    if not mode.shift:
        code = (words & np.uint64(parameters.SCALE_MASK)) >> np.uint64(parameters.SCALE_LOW)
        bad |= _illegal_fp19(code)
    return _first(bad)


def first_illegal_activation(words: Words) -> int | None:
    """Return the index of the first word that `parameters.fault_of_activation` finds illegal."""
    return _first(_illegal_fp19(words) & (words != 0))


def _illegal_fp19(codes: Words) -> npt.NDArray[np.bool_]:
    least, most = parameters.FP19.min_normal, parameters.FP19.max_finite
    assert least is not None
    assert most is not None
    return (codes < np.uint64(least)) | (codes > np.uint64(most))


def _first(bad: npt.NDArray[np.bool_]) -> int | None:
    return int(np.argmax(bad)) if bad.any() else None


# --- decoding many ------------------------------------------------------------------------------


def scales_of(words: Words) -> Pattern:
    """Return the FP32 patterns of the scales of legal words."""
    return (words & np.uint64(parameters.SCALE_MASK)).astype(np.uint32)


def offsets_of(mode: Mode, words: Words) -> npt.NDArray[np.int32]:
    """Return the signed offsets of legal words."""
    if not mode.offset_bits:
        return np.zeros(len(words), np.int32)
    raw = (words >> np.uint64(parameters.OFFSET_LOW)).astype(np.int64)
    half = np.int64(1 << (mode.offset_bits - 1))
    return ((raw ^ half) - half).astype(np.int32)


def shifts_of(words: Words) -> npt.NDArray[np.int32]:
    """Return the shift amounts of legal words."""
    return (words >> np.uint64(parameters.SHIFT_LOW)).astype(np.int32) + np.int32(1)


def activations_of(words: Words) -> Pattern:
    """Return the FP32 patterns of legal activation words."""
    return (words << np.uint64(parameters.SCALE_LOW)).astype(np.uint32)


# --- building many ------------------------------------------------------------------------------


def quant_words(
    mode: PreQuant | int | str,
    scales: Iterable[Any] | None = None,
    offsets: Iterable[int] | int = 0,
    shifts: Iterable[int] | int | None = None,
    exact: bool = True,  # noqa: FBT001, FBT002 - the documented positional order
) -> Words:
    """Build a vector of parameter words, shape (N,), dtype uint64: `quant_word` for each column.

    `scales` are N numbers, `offsets` N signed integers or one for all; for a shift mode `shifts`
    are N amounts or one, which then gives one word. Raises what `quant_word` raises, with the
    `position` of the column, and `RejectedError` of category shape for lengths that differ.
    Decisions 177, 179, 180.
    """
    row = parameters.mode_row(mode)
    columns = {
        name: list(_items(name, values))
        for name, values in (("scales", scales), ("offsets", offsets), ("shifts", shifts))
        if not (values is None or isinstance(values, int))
    }
    count = max((len(values) for values in columns.values()), default=1)
    for name, values in columns.items():
        if len(values) != count:
            raise RejectedError(
                "shape", f"quant_words({row.name}): {name}", f"{len(values)} of them", f"{count}"
            )

    def one(index: int) -> int:
        def pick(name: str, values: Any) -> Any:
            return columns[name][index] if name in columns else values

        scale, offset, shift = map(pick, ("scales", "offsets", "shifts"), (scales, offsets, shifts))
        return parameters.quant_word(row.code, scale, offset, shift, exact)

    return _each(one, count)


def activation_words(
    values: Iterable[Any],
    exact: bool = True,  # noqa: FBT001, FBT002 - the documented positional order
) -> Words:
    """Build a vector of activation words, shape (N,), dtype uint64: `activation_word` for each.

    Raises what `activation_word` raises, with the `position` of the column. Decisions 176, 180.
    """
    given = list(_items("activation_words", values))
    return _each(lambda index: parameters.activation_word(given[index], exact), len(given))


@dataclass(frozen=True, slots=True, eq=False)
class NearestScales:
    """FP19 scales nearest to float ones.

    `scales` are float64 and exactly FP19, so that `quant_words` takes them as they are; `errors`
    are their relative errors, float64, at most 2**-11 in magnitude; `worst` is the largest.
    """

    scales: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64]

    @property
    def worst(self) -> float:
        """The largest relative error, in magnitude."""
        return float(np.abs(self.errors).max(initial=0.0))


def nearest_scales(scales: Iterable[Any]) -> NearestScales:
    """Return the FP19 nearest to each scale, ties to even, and the relative errors.

    `scales` are positive numbers of any kind that `quant_word` takes, shape (N,) or (1, N). Raises
    `RejectedError` of category parameter, with the `position`, for one whose nearest FP19 is no
    positive normal; `TypeError` for another kind of value. Decision 180.
    """
    given = list(_items("nearest_scales", scales))
    row = parameters.mode_row(PreQuant.DEQF16)
    words = _each(lambda i: parameters.quant_word(row.code, given[i], exact=False), len(given))
    exact = [parameters.decode_quant(row, word).value for word in words.tolist()]
    ratios = [Fraction(*value.as_integer_ratio()) for value in given]
    errors = [float(made / wanted - 1) for made, wanted in zip(exact, ratios, strict=True) if made]
    return NearestScales(np.array(list(map(float, filter(None, exact)))), np.array(errors))


def _items(name: str, values: Iterable[Any]) -> Iterable[Any]:
    if isinstance(values, np.ndarray):
        if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[0] != 1):
            raise RejectedError("shape", name, f"shape {values.shape}", "(N,) or (1, N)")
        return list(values.reshape(-1))
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise RefusedTypeError(name, f"got {shown(values)}", "numbers, one for each column")
    return values


def _each(build: Callable[[int], int], count: int) -> Words:
    words = np.empty(count, np.uint64)
    for index in range(count):
        try:
            words[index] = build(index)
        except RejectedError as error:
            raise RejectedError(
                error.category, f"column {index}: {error.subject}", error.came, error.accepted,
                error.advice, (index,),
            ) from None  # fmt: skip
    return words
