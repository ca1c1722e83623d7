"""DType descriptors and the one list of them."""

from bittrue.dtypes.catalog import (
    BINARY128,
    CATEGORIES,
    COMPOUNDS,
    ENCODINGS,
    EXTENDED_ENABLED,
    SCALARS,
    EncodingRow,
    FloatFields,
    ScalarRow,
    Specials,
    complex_of,
    component_of,
    encoding_of,
    is_complex,
    register_encoding,
    scalar_of,
)
from bittrue.dtypes.descriptor import CompoundDType, DType, DTypeCategory, SimpleDType

__all__ = [
    "BINARY128",
    "CATEGORIES",
    "COMPOUNDS",
    "ENCODINGS",
    "EXTENDED_ENABLED",
    "SCALARS",
    "CompoundDType",
    "DType",
    "DTypeCategory",
    "EncodingRow",
    "FloatFields",
    "ScalarRow",
    "SimpleDType",
    "Specials",
    "complex_of",
    "component_of",
    "encoding_of",
    "is_complex",
    "register_encoding",
    "scalar_of",
]
