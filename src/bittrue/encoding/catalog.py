"""The formats by name: built from the rows of the dtype list, open to a user's own rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bittrue._records import shown
from bittrue.dtypes import ENCODINGS, EncodingRow, FloatFields, Specials, register_encoding
from bittrue.encoding.format import Format
from bittrue.errors import RefusedTypeError, RefusedValueError, UnknownFormatError

CARRIERS = (8, 16, 32, 64)


class Formats(Mapping[str, Format]):
    """Every format, by name: ``formats["e4m3"]``.

    Names are matched without regard to case; the names of the DType, of the packed type with or
    without ``X2`` and the usual aliases (``float8_e4m3fn``, ``fp16``, ``bfloat16``) find the same
    descriptor. Iteration gives each format once, by its own name. An unknown name is a `KeyError`
    that lists the known ones.
    """

    def __init__(self) -> None:
        self._formats: dict[str, Format] = {}
        self._names: dict[str, Format] = {}
        for row in ENCODINGS:
            if row.encoding != "BOOL":
                self._add(Format.of_row(row))

    def _add(self, fmt: Format) -> None:
        names = [fmt.name, *fmt.aliases, fmt.name.removesuffix("X2")]
        if fmt.dtype is not None:
            names.append(fmt.dtype)
        self._formats[fmt.name] = fmt
        for name in names:
            self._names[name.lower()] = fmt

    def __getitem__(self, name: str) -> Format:
        if not isinstance(name, str):
            raise RefusedTypeError("formats", f"got {shown(name)}", "the name of a format")
        try:
            return self._names[name.lower()]
        except KeyError:
            raise UnknownFormatError(
                "formats", f"unknown format {name!r}", f"one of {', '.join(self._formats)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)

    def register(
        self,
        name: str,
        *,
        exponent_bits: int,
        fraction_bits: int,
        bias: int | None = None,
        specials: Specials | str = Specials.IEEE,
        sign: bool = True,
        aliases: tuple[str, ...] = (),
    ) -> Format:
        """Add a format of fixed fields and return its descriptor.

        Widths are in bits; `bias` defaults to ``2**(exponent_bits-1) - 1``; `specials` is a member
        of `Specials` or its value, of the fixed kinds. Decomposition, conversion and the command
        line then know it, and the dtype list has a `SimpleDType` of its name. Raises `ValueError`
        for a taken name or widths that no carrier of at most 64 bits holds.
        """
        kind = Specials(specials)
        fixed = (Specials.IEEE, Specials.LAST, Specials.NONE, Specials.NO_SUBNORMAL)
        lane = sign + exponent_bits + fraction_bits
        least_fraction = 1 if kind is Specials.IEEE else 0
        good = 1 <= exponent_bits <= 11 and least_fraction <= fraction_bits <= 52
        if kind not in fixed or not good:
            raise RefusedValueError(
                f"format {name!r}",
                f"{exponent_bits} exponent and {fraction_bits} fraction bits, {kind.value}",
                "1..11 exponent bits, at most 52 fraction bits, and a fixed kind of specials",
            )
        if bias is None:
            bias = (1 << (exponent_bits - 1)) - 1
        if not 1 - bias - fraction_bits >= -1022 or (1 << exponent_bits) - 1 - bias > 1024:
            raise RefusedValueError(f"format {name!r}", f"bias {bias}", "values that FP64 can hold")
        for alias in (name, *aliases):
            if alias in self:
                raise RefusedValueError(
                    f"format {name!r}", f"the name {alias!r} is taken", "a new one"
                )
        carrier = next(bits for bits in CARRIERS if bits >= lane)
        row = EncodingRow(
            name,
            name,
            None,
            "Floating",
            carrier,
            lane,
            1,
            FloatFields(lane - 1 if sign else None, exponent_bits, fraction_bits, bias, kind),
            tuple(aliases),
        )
        register_encoding(row)
        fmt = Format.of_row(row)
        self._add(fmt)
        return fmt


formats = Formats()
