"""Encodings of numbers: formats, the rounding gate, exact decoding, encoding and conversion."""

from bittrue.encoding.binary import (
    BINARY32,
    BINARY64,
    BINARY128,
    BINARY_FORMATS,
    BinaryFormat,
    component_format,
)
from bittrue.encoding.catalog import Formats, formats
from bittrue.encoding.format import Class, Decomposition, Format
from bittrue.encoding.lanes import convert_lane
from bittrue.encoding.literals import encode
from bittrue.encoding.rounding import Rounding, round_magnitude
from bittrue.encoding.status import Status

__all__ = [
    "BINARY32",
    "BINARY64",
    "BINARY128",
    "BINARY_FORMATS",
    "BinaryFormat",
    "Class",
    "Decomposition",
    "Format",
    "Formats",
    "Rounding",
    "Status",
    "component_format",
    "convert_lane",
    "encode",
    "formats",
    "round_magnitude",
]
