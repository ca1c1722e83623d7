"""Operation specifications: positional overloads and the checks that build them.

Clause: operation-dtype-policy, *Operation specifications declare positional overloads*.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bittrue._records import put, require, require_items, shown
from bittrue.dtypes import SimpleDType
from bittrue.errors import RefusedValueError
from bittrue.policy.plan import OperandRole, OperationPlan

Rule = Callable[..., OperationPlan]
"""A plan resolver: called with the positional operands (storage dtypes for tensors, Python values
for weak scalars), it returns the plan."""


@dataclass(frozen=True, slots=True)
class OperationOverload:
    """One positional role signature and the rule that plans it.

    `roles` is the ordered `OperandRole` signature; `rule` a deterministic callable that takes the
    operands in order and returns the `OperationPlan`; `tensor_domains` one non-empty tuple of
    dtypes for each tensor role, or None: the caller of an enumeration supplies the domain.
    Raises `ValueError` for a wrong number of domains or an empty one, `TypeError` for a field of
    another kind.
    """

    roles: tuple[OperandRole, ...]
    rule: Rule
    tensor_domains: tuple[tuple[SimpleDType, ...], ...] | None = None

    def __post_init__(self) -> None:
        put(self, "roles", require_items(self, "roles", self.roles, OperandRole))
        if not callable(self.rule):
            msg = f"OperationOverload.rule: got {shown(self.rule)}; expected a callable"
            raise TypeError(msg)
        if self.tensor_domains is not None:
            put(self, "tensor_domains", self._checked_domains(self.tensor_domains))

    def _checked_domains(self, given: object) -> tuple[tuple[SimpleDType, ...], ...]:
        domains = tuple(
            require_items(self, "tensor_domains", domain, SimpleDType)
            for domain in require_items(self, "tensor_domains", given, Sequence)  # type: ignore[type-abstract]
        )
        tensors = sum(role is OperandRole.TENSOR for role in self.roles)
        if len(domains) != tensors or not all(domains):
            raise RefusedValueError(
                "OperationOverload.tensor_domains",
                f"got {len(domains)} domains, {sum(not d for d in domains)} of them empty",
                f"{tensors} non-empty domains, one for each tensor role",
            )
        return domains


@dataclass(frozen=True, slots=True)
class OperationSpec:
    """One registered operation: its name and every positional overload it accepts.

    `public` tells whether the name itself is a public single-result operation;
    `dtype_operand_positions` which forward arguments take part in dtype policy (None: all of them).
    Raises `ValueError` for no overloads, a repeated role signature, and positions that are not
    unique, increasing, non-negative and as many as every overload has roles; `TypeError` for a
    field of another kind.
    """

    name: str
    overloads: tuple[OperationOverload, ...]
    public: bool = True
    dtype_operand_positions: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        require(self, "name", self.name, str)
        require(self, "public", self.public, bool)
        put(self, "overloads", require_items(self, "overloads", self.overloads, OperationOverload))
        subject = f"OperationSpec {self.name!r}"
        if not self.overloads:
            raise RefusedValueError(subject, "no overloads", "at least one")
        signatures = [overload.roles for overload in self.overloads]
        if len(set(signatures)) != len(signatures):
            raise RefusedValueError(
                subject, "a role signature stands twice", "one overload for each role signature"
            )
        if self.dtype_operand_positions is not None:
            positions = require_items(
                self, "dtype_operand_positions", self.dtype_operand_positions, int
            )
            put(self, "dtype_operand_positions", positions)
            self._check_positions(subject, positions)

    def _check_positions(self, subject: str, positions: tuple[int, ...]) -> None:
        increasing = all(a < b for a, b in itertools.pairwise(positions))
        if not increasing or any(position < 0 for position in positions):
            raise RefusedValueError(
                subject,
                f"dtype_operand_positions is {positions}",
                "unique, increasing, non-negative positions",
            )
        if any(len(overload.roles) != len(positions) for overload in self.overloads):
            raise RefusedValueError(
                subject,
                f"{len(positions)} dtype_operand_positions",
                "as many positions as every overload has roles",
            )

    def _only(self, attribute: str) -> Any:
        if len(self.overloads) != 1:
            msg = (
                f"OperationSpec {self.name!r} has {len(self.overloads)} overloads; "
                f"read .overloads, since .{attribute} would hide all but one"
            )
            raise AttributeError(msg)
        return getattr(self.overloads[0], attribute)

    @property
    def roles(self) -> tuple[OperandRole, ...]:
        """Roles of the only overload; `AttributeError` where there are several."""
        roles: tuple[OperandRole, ...] = self._only("roles")
        return roles

    @property
    def rule(self) -> Rule:
        """Rule of the only overload; `AttributeError` where there are several."""
        rule: Rule = self._only("rule")
        return rule
