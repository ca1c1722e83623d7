"""Policy rows: the key that operands select and the plan, or refusal, that stands under it.

Belongs here: the record of a row and the rule that looks rows up. Never here: which rows exist
(`simple` and its siblings) nor how an overload is chosen (`policy`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bittrue._records import put, require, require_items, spelled
from bittrue.dtypes import SimpleDType
from bittrue.errors import BittrueError, PromotionError, RefusedValueError
from bittrue.policy.plan import OperandRole, OperationPlan
from bittrue.policy.weak import WeakCondition, weak_condition

Selector = SimpleDType | WeakCondition
"""What one operand contributes to a key: the dtype of a tensor, the branch of a weak scalar."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that answers with an error: its class and the parts of its text.

    `names_scalar` tells that the last weak scalar is what it refuses, not the operands together.
    """

    error: type[BittrueError]
    came: str
    accepted: str
    advice: str = ""
    names_scalar: bool = False

    def raised(self, subject: str) -> BittrueError:
        """Build the error, naming `subject` as the one that refuses."""
        return self.error(subject, self.came, self.accepted, self.advice)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a policy.

    The key is the operation, its role signature, the storage dtype of each tensor operand and the
    branch of each weak one; the value a finished `OperationPlan` with the default accumulator, or
    a `Refusal`. Raises `ValueError` where key and plan disagree.
    """

    operation: str
    roles: tuple[OperandRole, ...]
    tensor_dtypes: tuple[SimpleDType, ...]
    weak_conditions: tuple[WeakCondition, ...]
    plan: OperationPlan | Refusal
    # Derived once: a row is sorted and looked up by these whenever policies are built or joined.
    selectors: tuple[Selector, ...] = field(init=False, repr=False, compare=False)
    key: tuple[object, ...] = field(init=False, repr=False, compare=False)
    order: tuple[object, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(self, "operation", self.operation, str)
        put(self, "roles", require_items(self, "roles", self.roles, OperandRole))
        dtypes = require_items(self, "tensor_dtypes", self.tensor_dtypes, SimpleDType)
        conditions = require_items(self, "weak_conditions", self.weak_conditions, WeakCondition)
        put(self, "tensor_dtypes", dtypes)
        put(self, "weak_conditions", conditions)
        tensors = sum(role is OperandRole.TENSOR for role in self.roles)
        if (tensors, len(self.roles) - tensors) != (len(dtypes), len(conditions)):
            raise RefusedValueError(
                f"Row of {self.operation!r}",
                f"{len(dtypes)} dtypes, {len(conditions)} conditions, {len(self.roles)} roles",
                "one dtype for each tensor role and one condition for each weak role",
            )
        items: tuple[Iterator[Selector], Iterator[Selector]] = iter(dtypes), iter(conditions)
        weak = tuple(role is OperandRole.WEAK_SCALAR for role in self.roles)
        put(self, "selectors", tuple(next(items[is_weak]) for is_weak in weak))
        put(self, "key", (self.operation, self.roles, dtypes, conditions))
        order = (
            self.operation,
            overload_order(self.roles),
            tuple(dtype.index for dtype in dtypes),
            tuple(_CONDITION_ORDER[condition] for condition in conditions),
        )
        put(self, "order", order)


_CONDITION_ORDER = {condition: i for i, condition in enumerate(WeakCondition)}


def overload_order(roles: Iterable[OperandRole]) -> tuple[int, ...]:
    """Sort key of role signatures: tensors before weak scalars, the first position first."""
    return tuple(int(role is OperandRole.WEAK_SCALAR) for role in roles)


@dataclass(frozen=True, slots=True)
class RowRule:
    """The rule of an overload whose plans are rows: a look-up, nothing else.

    Called with the operands in order it returns the plan of their row. Raises `PromotionError`
    where no row has their key, or the row's own refusal.
    """

    operation: str
    roles: tuple[OperandRole, ...]
    rows: tuple[Row, ...]
    _by_selectors: dict[tuple[Selector | None, ...], Row] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        index: dict[tuple[Selector | None, ...], Row] = {row.selectors: row for row in self.rows}
        put(self, "_by_selectors", index)

    def __call__(self, *operands: object) -> OperationPlan:
        """Return the plan of the row that `operands` select."""
        selectors = tuple(
            operand if isinstance(operand, SimpleDType) else weak_condition(operand)
            for operand in operands
        )
        row = self._by_selectors.get(selectors)
        if row is None:
            came = ", ".join(_spell(operand) for operand in operands)
            raise PromotionError(
                self.operation, f"no row for ({came})", self._accepted(operands, selectors)
            )
        if isinstance(row.plan, Refusal):
            raise row.plan.raised(self._subject(row.plan, operands))
        return row.plan

    def _subject(self, refusal: Refusal, operands: tuple[object, ...]) -> str:
        if not refusal.names_scalar:
            return f"{self.operation}({', '.join(map(_spell, operands))})"
        position = max(i for i, o in enumerate(operands) if not isinstance(o, SimpleDType))
        return f"{self.operation}: operand {position} is {spelled(operands[position])}"

    def _accepted(
        self, operands: tuple[object, ...], selectors: tuple[Selector | None, ...]
    ) -> str:
        """Say what the first operand that fits no row might be, beside those before it."""
        rows = [row for row in self.rows if not isinstance(row.plan, Refusal)]
        position = 0
        while fitting := [r for r in rows if r.selectors[position] is selectors[position]]:
            rows = fitting
            position += 1
        offered = sorted({row.selectors[position] for row in rows}, key=_selector_order)
        kinds = " or ".join(dict.fromkeys(map(_spell_selector, offered)))
        before = ", ".join(map(_spell, operands[:position]))
        return f"{kinds} as operand {position}" + (f" after ({before})" if before else "")

    def selectors_at(self, position: int) -> frozenset[Selector]:
        """Every dtype or branch that some row has at `position`."""
        return frozenset(row.selectors[position] for row in self.rows)


def _spell(operand: object) -> str:
    return operand.name if isinstance(operand, SimpleDType) else spelled(operand)


_SPELLED_CONDITION = {
    WeakCondition.INT_NONNEG32: "an int",
    WeakCondition.INT_NEG32: "an int",
    WeakCondition.INT_WIDE: "an int",
    WeakCondition.FLOATING: "a float",
    WeakCondition.COMPLEX: "a complex number",
}


def _spell_selector(selector: Selector) -> str:
    return selector.name if isinstance(selector, SimpleDType) else _SPELLED_CONDITION[selector]


def _selector_order(selector: Selector) -> tuple[int, int]:
    if isinstance(selector, SimpleDType):
        return 0, selector.index
    return 1, _CONDITION_ORDER[selector]
