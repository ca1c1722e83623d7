"""Conversions of arrays between types, and the packing of 4-bit lanes."""

from bittrue.conversion.arrays import pack, unpack
from bittrue.conversion.convert import Converted, convert

__all__ = ["Converted", "convert", "pack", "unpack"]
