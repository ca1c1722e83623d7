"""DType descriptors and the one list of them."""

from bittrue.dtypes.catalog import (
    CATEGORIES,
    COMPOUNDS,
    ENCODINGS,
    EncodingRow,
    FloatFields,
    encoding_of,
)
from bittrue.dtypes.descriptor import CompoundDType, DType, DTypeCategory, SimpleDType

__all__ = [
    "CATEGORIES",
    "COMPOUNDS",
    "ENCODINGS",
    "CompoundDType",
    "DType",
    "DTypeCategory",
    "EncodingRow",
    "FloatFields",
    "SimpleDType",
    "encoding_of",
]
