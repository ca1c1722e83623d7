"""Encodings of numbers: layouts, the rounding gate, exact decoding and encoding."""

from bittrue.encoding.binary import BINARY32, BINARY64, BinaryFormat
from bittrue.encoding.rounding import Rounding, round_magnitude

__all__ = ["BINARY32", "BINARY64", "BinaryFormat", "Rounding", "round_magnitude"]
