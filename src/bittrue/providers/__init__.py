"""Backends as providers: the protocol, the reference, and adapters of other libraries."""

from bittrue.providers.provider import (
    Backend,
    Decline,
    Operand,
    ReportsCopies,
    WeakScalar,
    converted,
)
from bittrue.providers.registry import (
    backend_names,
    backend_of,
    backends,
    default_backends,
    promises_bits,
    versions_of,
)

__all__ = [
    "Backend",
    "Decline",
    "Operand",
    "ReportsCopies",
    "WeakScalar",
    "backend_names",
    "backend_of",
    "backends",
    "converted",
    "default_backends",
    "promises_bits",
    "versions_of",
]
