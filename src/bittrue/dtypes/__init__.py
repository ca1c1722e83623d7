"""DType descriptors and the one list of them."""

from bittrue.dtypes.catalog import (
    CATEGORIES,
    COMPOUNDS,
    ENCODINGS,
    EncodingRow,
    FloatFields,
    Specials,
    encoding_of,
    register_encoding,
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
    "Specials",
    "encoding_of",
    "register_encoding",
]
