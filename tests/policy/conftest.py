"""What the policy tests share: descriptors that the tests register themselves.

What they share at import is `real_complex_support`.
"""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

import pytest

from bittrue.dtypes import CompoundDType, DType, DTypeCategory, SimpleDType

# Test files are imported one by one, without a package around them.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def extension_category() -> DTypeCategory:
    return DTypeCategory(f"ExtensionCategory{uuid.uuid4().hex}", supertype=DType.Floating)


@pytest.fixture(scope="session")
def extension_simple(extension_category: DTypeCategory) -> SimpleDType:
    return SimpleDType(f"ExtensionSimple{uuid.uuid4().hex}", bits=12, supertype=extension_category)


@pytest.fixture(scope="session")
def extension_compound(extension_simple: SimpleDType) -> CompoundDType:
    return CompoundDType(
        f"ExtensionCompound{uuid.uuid4().hex}",
        supertype=DType.Any,
        simple_types=(extension_simple, DType.E8M0),
    )
