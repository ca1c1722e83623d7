"""What the policy tests share: descriptors that the tests register themselves."""

from __future__ import annotations

import uuid

import pytest

from bittrue.dtypes import CompoundDType, DType, DTypeCategory, SimpleDType


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
