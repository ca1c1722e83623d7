"""Conversions of arrays between types, block-scaled arrays, and the packing of 4-bit lanes."""

from bittrue.conversion.arrays import pack, unpack
from bittrue.conversion.blocks import BlockScaled, dequantize_blocks, quantize_blocks
from bittrue.conversion.convert import Converted, convert

__all__ = [
    "BlockScaled",
    "Converted",
    "convert",
    "dequantize_blocks",
    "pack",
    "quantize_blocks",
    "unpack",
]
