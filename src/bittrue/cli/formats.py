"""`bittrue formats`, `decode` and `encode`: what codes mean."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

from bittrue.cli.common import STDOUT, emit, emit_json
from bittrue.encoding import Format, Rounding, Status, encode, formats
from bittrue.errors import RefusedValueError

_PAGE_CODES = 256
"""Formats of at most as many codes list them all on their page."""

_LONG = 40
"""Digits of a fraction beyond which its text says it as a power of two."""


def add(commands: Any) -> None:
    """Add the commands."""
    table = commands.add_parser("formats", help="list the formats, or show the page of one")
    table.add_argument("name", nargs="?", metavar="NAME")
    table.add_argument("--json", action="store_true", help="print as JSON")
    table.set_defaults(execute=_formats)
    decode = commands.add_parser("decode", help="show the fields and exact value of codes")
    decode.add_argument("format", metavar="FORMAT")
    decode.add_argument("codes", nargs="+", metavar="CODE", help="0x3c, 0b111100 or 60")
    decode.add_argument("--json", action="store_true", help="print as JSON")
    decode.set_defaults(execute=_decode)
    encoder = commands.add_parser("encode", help="round exact values to codes of a format")
    encoder.add_argument("format", metavar="FORMAT")
    encoder.add_argument("values", nargs="+", metavar="VALUE", help="0.1, 1/3, 0x1.8p-3, inf, nan")
    add_rounding(encoder)
    encoder.add_argument("--json", action="store_true", help="print as JSON")
    encoder.set_defaults(execute=_encode)
    for command in (decode, encoder):
        # A negative number is an operand, never an option.
        command._negative_number_matcher = _ANY_NEGATIVE  # noqa: SLF001 - argparse has no setting


class _AnyNegative:
    """Matches every text that starts like a negative number."""

    @staticmethod
    def match(text: str) -> bool:
        return len(text) > 1 and text[0] == "-" and (text[1] in ".0123456789" or text[1:] in _WORDS)


_WORDS = ("inf", "infinity", "nan", "snan")
_ANY_NEGATIVE = _AnyNegative()


def add_rounding(command: argparse.ArgumentParser) -> None:
    """Add the options of a rounding conversion."""
    command.add_argument(
        "--round",
        default="NONE",
        type=str.upper,
        choices=[mode.name for mode in Rounding],
        metavar="MODE",
        help="NONE (the default of the destination), RNE, RTZ, RTM, RTP, RNA, RTO or RHB",
    )
    command.add_argument("--saturate", action="store_true", help="clamp what would overflow")


def flag_names(status: int) -> str:
    """Spell flags as ``OF|NX``, ``-`` without one."""
    return "|".join(flag.name or "" for flag in Status if flag & status) or "-"


# --- formats ------------------------------------------------------------------------------------


def _formats(options: argparse.Namespace) -> int:
    chosen = [formats[options.name]] if options.name else list(formats.values())
    if options.json:
        rows = [_facts(fmt) for fmt in chosen]
        emit_json(STDOUT, rows[0] if options.name else rows)
    elif options.name:
        emit(STDOUT, _page(chosen[0]))
    else:
        emit(STDOUT, _table(chosen))
    return 0


def _facts(fmt: Format) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "name": fmt.name,
        "dtype": fmt.dtype,
        "code": fmt.code,
        "kind": fmt.kind,
        "available": fmt.available,
        "carrier_bits": fmt.carrier_bits,
        "lane_bits": fmt.lane_bits,
        "lanes_per_carrier": fmt.lanes_per_carrier,
        "sign_bit": fmt.sign_bit,
        "exponent_bits": list(fmt.exponent_bits),
        "fraction_bits": list(fmt.fraction_bits),
        "bias": fmt.bias,
        "low_zero_bits": fmt.low_zero_bits,
        "high_zero_bits": fmt.high_zero_bits,
        "has_zero": fmt.has_zero,
        "has_signed_zero": fmt.has_signed_zero,
        "has_subnormal": fmt.has_subnormal,
        "has_infinity": fmt.has_infinity,
        "has_quiet_nan": fmt.has_quiet_nan,
        "has_signaling_nan": fmt.has_signaling_nan,
        "aliases": list(fmt.aliases),
    }
    if fmt.available:
        facts |= {
            name: getattr(fmt, name)
            for name in (
                *("max_finite", "min_normal", "min_subnormal", "positive_infinity"),
                "canonical_nan",
            )
        }
    else:
        facts |= {"integer_bits": fmt.integer_bits, "signed": fmt.signed}
    return facts


def _range(widths: tuple[int, int]) -> str:
    return f"{widths[0]}" if widths[0] == widths[1] else f"{widths[0]}..{widths[1]}"


def _table(chosen: list[Format]) -> str:
    rows = [("name", "bits", "lanes", "exponent", "fraction", "bias", "largest", "aliases")]
    for fmt in chosen:
        if fmt.available:
            largest = fmt.max_finite_value
            assert largest is not None
            rows.append(
                (
                    fmt.name,
                    f"{fmt.lane_bits}",
                    f"{fmt.lanes_per_carrier}",
                    _range(fmt.exponent_bits),
                    _range(fmt.fraction_bits),
                    "" if fmt.bias is None else f"{fmt.bias}",
                    f"{float(largest):.6g}",
                    ", ".join(fmt.aliases),
                )
            )
        else:
            sign = "signed" if fmt.signed else "unsigned"
            rows.append(
                (
                    fmt.name,
                    f"{fmt.integer_bits}",
                    "",
                    f"{sign} integer",
                    "",
                    "",
                    "",
                    ", ".join(fmt.aliases),
                )
            )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip()
                     for r in rows)  # fmt: skip


def _page(fmt: Format) -> str:
    facts = _facts(fmt)
    lines = [f"{key:<18} {_fact(value)}" for key, value in facts.items() if key not in _BOUNDARIES]
    if not fmt.available:
        return "\n".join(lines)
    width = -(-fmt.carrier_bits // 4)
    for key in _BOUNDARIES:
        code = facts.get(key)
        if code is not None:
            lines.append(f"{key:<18} 0x{code:0{width}X}  {spell_value(fmt, code)}")
    if (1 << fmt.lane_bits) <= _PAGE_CODES:
        lines += ["", "code  fields        class                value"]
        lines += [
            f"0x{code:0{max(width, 1)}X}  {field_text(fmt, code):<12}  "
            f"{fmt.classify(code):<19}  {spell_value(fmt, code)}"
            for code in fmt.codes()
        ]
    return "\n".join(lines)


_BOUNDARIES = ("max_finite", "min_normal", "min_subnormal", "positive_infinity", "canonical_nan")


def _fact(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)


# --- codes --------------------------------------------------------------------------------------


def field_text(fmt: Format, code: int) -> str:
    """Spell the bits of a lane with its fields apart: sign, exponent, fraction."""
    if fmt.kind == "integer":
        return f"{code:0{fmt.integer_bits}b}"
    bits = f"{code:0{fmt.lane_bits}b}"[-fmt.lane_bits :]
    sign, rest = ("", bits) if fmt.sign_bit is None else (bits[0], bits[1:])
    if fmt.kind == "variable":
        return f"{sign} {rest}"
    exponent = fmt.exponent_bits[1]
    parts = (sign, rest[:exponent], rest[exponent:])
    return " ".join(part for part in parts if part)


def spell_value(fmt: Format, code: int) -> str:
    """Spell the exact value of a lane: decimal where it is short, else as a power of two."""
    if fmt.kind == "integer":
        negative = fmt.signed and code >> (fmt.integer_bits - 1)
        value = code - (1 << fmt.integer_bits) if negative else code
        return str(value)
    d = fmt.decompose(code)
    if not d.available:
        return fmt.classify(code)
    sign = "-" if d.negative else ""
    if not d.significand:
        return f"{sign}0"
    decimal = _decimal(Fraction(d.significand) * Fraction(2) ** d.exponent)
    power = f"{sign}{d.significand}*2^{d.exponent}"
    return f"{sign}{decimal} = {power}" if len(decimal) <= _LONG else power


def _decimal(value: Fraction) -> str:
    """Write a dyadic number in full."""
    places = value.denominator.bit_length() - 1
    if places > _LONG or value.numerator.bit_length() > 4 * _LONG:
        return " " * (_LONG + 1)
    digits = str(value.numerator * 5**places).rjust(places + 1, "0")
    return digits if not places else f"{digits[:-places]}.{digits[-places:]}"


def _report(fmt: Format, code: int, extra: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"code": code, "fields": field_text(fmt, code)}
    if fmt.available:
        d = fmt.decompose(code)
        entry |= {"class": fmt.classify(code), "available": d.available, "negative": d.negative}
        entry |= {"significand": d.significand, "exponent": d.exponent}
    return entry | {"value": spell_value(fmt, code)} | extra


def _decode(options: argparse.Namespace) -> int:
    fmt = formats[options.format]
    width = fmt.integer_bits or (fmt.lane_bits if fmt.lanes_per_carrier > 1 else fmt.carrier_bits)
    entries = []
    for text in options.codes:
        code = _code(text)
        if code >> width:
            raise RefusedValueError(f"{fmt.name} code", text, f"a code of {width} bits")
        entries.append(_report(fmt, code, {}))
    _show(fmt, entries, as_json=options.json)
    return 0


def _code(text: str) -> int:
    try:
        code = int(text, 0)
    except ValueError:
        code = -1
    if code < 0:
        raise RefusedValueError("code", repr(text[:40]), "0x3c, 0b111100 or 60")
    return code


def _encode(options: argparse.Namespace) -> int:
    fmt = formats[options.format]
    entries = []
    for text in options.values:
        code, status = encode(fmt, text, Rounding[options.round], saturate=options.saturate)
        entries.append(_report(fmt, code, {"input": text, "status": flag_names(status)}))
    _show(fmt, entries, as_json=options.json)
    return 0


def _show(fmt: Format, entries: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        emit_json(STDOUT, entries)
        return
    bits = fmt.integer_bits or fmt.lane_bits
    width = -(-bits // 4)
    lines = []
    for entry in entries:
        parts = [f"{entry['input']} ->"] if "input" in entry else []
        parts += [f"0x{entry['code']:0{width}X}", f"[{entry['fields']}]"]
        if "class" in entry:
            parts.append(entry["class"])
        if entry["value"] != entry.get("class"):
            parts.append(entry["value"])
        if "status" in entry:
            parts.append(f"flags {entry['status']}")
        lines.append("  ".join(parts))
    emit(STDOUT, "\n".join(lines))
