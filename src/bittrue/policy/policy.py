"""A policy: an immutable set of rows, and the one path from operands to a plan.

Belongs here: choosing the overload, running its rule, checking the plan, enumerating, joining two
policies. Never here: a dtype decision; those are rows. Clauses of operation-dtype-policy:
*Resolution selects exact roles before applying policy*, *The registry is deterministic and
exhaustively enumerable*, *Central planning rejects abstract and unsupported dtypes explicitly*.

Theory. A tensor operand is matched by the identity of its descriptor, a weak scalar by the branch
it selects, so the operands of a call reduce to a short tuple of descriptors and enum members.
Resolution is a pure function of that tuple, the operation and the options; each answer is kept,
and a repeated resolution is one dictionary look-up. Only exact descriptor and record types enter a
look-up: an object that merely compares equal to one never does.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from bittrue._records import put, require, require_items, shown, type_name
from bittrue.dtypes import (
    CompoundDType,
    DType,
    DTypeCategory,
    SimpleDType,
    complex_of,
    is_complex,
)
from bittrue.errors import (
    PromotionError,
    RefusedTypeError,
    RefusedValueError,
    UnsupportedError,
)
from bittrue.policy.arithmetic import Accumulation
from bittrue.policy.options import (
    AccumulatorRow,
    OperationExecutionOptions,
    check_accumulator,
    check_configurable,
    check_working,
)
from bittrue.policy.plan import OperandRole, OperationPlan
from bittrue.policy.rows import Row, RowRule, overload_order
from bittrue.policy.spec import OperationOverload, OperationSpec
from bittrue.policy.weak import REAL_CONDITIONS, WeakCondition, weak_condition

PROBE_ORDER: tuple[bool | float | complex, ...] = (3, -1, 0.5, True, 1j)
"""The order in which weak probes are enumerated, whichever way policies were joined."""

IMPLEMENTED = (DType.Float32, DType.Int32, DType.Bool)
"""Dtypes that some backend stores: refused in a position by `TypeError`, not as unimplemented."""

_ROW_ORDER = attrgetter("order")

_REFUSALS = (TypeError, NotImplementedError, OverflowError)


@dataclass(frozen=True, slots=True)
class Policy:
    """An immutable, hashable set of policy rows.

    `rows` are the rows; `operation_specs` the operations (build them from rows with `specs_of`; an
    overload with a rule of its own needs no rows); `accumulators` the accumulators that an
    operation may take for each default one; `weak_probes` the scalars an enumeration tries;
    `name` is a label outside equality. Raises `ValueError` for two rows with one key, an operation
    that stands twice, and rows that no specification carries.

    ``p | q`` is the union. Rows with one key must have equal plans, else `ValueError` names the
    key; the specifications of one operation must agree too.
    """

    rows: tuple[Row, ...]
    operation_specs: tuple[OperationSpec, ...]
    accumulators: tuple[AccumulatorRow, ...] = ()
    weak_probes: tuple[Any, ...] = field(default=(), compare=False)
    name: str = field(default="", compare=False)
    _specs: dict[str, OperationSpec] = field(init=False, repr=False, compare=False)
    _probe_key: tuple[object, ...] = field(init=False, repr=False)
    _plans: dict[tuple[object, ...], OperationPlan] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows = require_items(self, "rows", self.rows, Row)
        specs = require_items(self, "operation_specs", self.operation_specs, OperationSpec)
        put(self, "rows", tuple(sorted(rows, key=_ROW_ORDER)))
        put(
            self,
            "operation_specs",
            tuple(sorted(map(_canonical, specs), key=lambda spec: spec.name)),
        )
        put(self, "accumulators", tuple(sorted(self.accumulators, key=_accumulator_order)))
        probes = _ordered_probes(self.weak_probes)
        put(self, "weak_probes", probes)
        # 1 == 1.0 == True, yet they select different branches.
        put(self, "_probe_key", tuple((type(probe), probe) for probe in probes))
        require(self, "name", self.name, str)
        by_name = {spec.name: spec for spec in self.operation_specs}
        if len(by_name) != len(specs):
            raise RefusedValueError(f"Policy {self.name!r}", "an operation stands twice", "one")
        held = _rows_of(self.operation_specs)
        if len(held) != len(rows) or held.keys() != {row.key for row in rows}:
            raise RefusedValueError(
                f"Policy {self.name!r}",
                "rows and operation_specs do not carry the same rows",
                "specifications built from the rows by specs_of",
            )
        put(self, "_specs", by_name)
        put(self, "_plans", {})

    # --- enumeration ------------------------------------------------------------------------

    def specs(self) -> tuple[OperationSpec, ...]:
        """Return every registered operation, in the order of their names."""
        return self.operation_specs

    def spec(self, operation: str) -> OperationSpec | None:
        """Return the specification of `operation`, None if it is not registered."""
        return self._specs.get(operation) if isinstance(operation, str) else None

    @property
    def tensor_dtypes(self) -> tuple[SimpleDType, ...]:
        """The default tensor domain: dtypes that rows name, Bool apart, in the order of the list.

        Bool is offered only where a declared domain requires it.
        """
        return tensor_domain_of(self.rows)

    def plans(
        self,
        tensor_dtypes: Iterable[SimpleDType] | None = None,
        weak_scalars: Iterable[object] | None = None,
    ) -> tuple[OperationPlan, ...]:
        """Return every distinct plan over the supplied dtypes and scalars, in a fixed order.

        The order is: operations, overloads, positions with the last fastest, accumulators. A
        combination that resolution refuses contributes no plan. None means the policy's own
        domain and probes.
        """
        dtypes = self.tensor_dtypes if tensor_dtypes is None else tuple(tensor_dtypes)
        scalars = self.weak_probes if weak_scalars is None else tuple(weak_scalars)
        found: dict[OperationPlan, None] = {}
        for spec in self.operation_specs:
            for overload in spec.overloads:
                for operands in itertools.product(*_candidates(overload, dtypes, scalars)):
                    try:
                        plan = self._by_rule(spec, overload, operands)
                    except _REFUSALS:
                        continue
                    found.update(dict.fromkeys(self.accumulator_variants(plan)))
        return tuple(found)

    def accumulator_variants(self, plan: OperationPlan) -> tuple[OperationPlan, ...]:
        """Return `plan` first, then every other supported accumulator variant of it.

        A plan that is not configurable, or not floating, is returned alone.
        """
        if not isinstance(plan, OperationPlan):
            raise RefusedTypeError(
                "plan_accumulator_variants", f"got {type_name(plan)}", "an OperationPlan"
            )
        if plan.accumulation is not Accumulation.FLOATING:
            return (plan,)
        offered = self._accumulators_of(plan)
        return (
            plan,
            *(
                replace(plan, accumulator_dtype=dtype)
                for dtype in offered
                if dtype is not plan.accumulator_dtype
            ),
        )

    def _accumulators_of(self, plan: OperationPlan) -> tuple[SimpleDType, ...]:
        """Return the accumulators that `plan` may take: those of its default one.

        The default is that of the row which `plan` came from, so a widened plan finds its
        narrower variants again. A plan that no row gave falls back to its operation.
        """
        offered: dict[SimpleDType | None, tuple[SimpleDType, ...]] = {
            default: dtypes for name, default, dtypes in self.accumulators if name == plan.operation
        }
        default = self._default_accumulator(plan)
        if default in offered:
            return offered[default]
        return tuple(dict.fromkeys(dtype for dtypes in offered.values() for dtype in dtypes))

    def _default_accumulator(self, plan: OperationPlan) -> SimpleDType | None:
        spec = self.spec(plan.operation)
        for row in _rows_of(() if spec is None else (spec,)).values():
            if (
                isinstance(row.plan, OperationPlan)
                and replace(row.plan, accumulator_dtype=plan.accumulator_dtype) == plan
            ):
                return row.plan.accumulator_dtype
        return plan.accumulator_dtype

    # --- options ----------------------------------------------------------------------------

    def options(
        self, operation: str, *, accumulator_dtype: SimpleDType | None = None
    ) -> OperationExecutionOptions:
        """Return validated options of `operation` under this policy.

        Raises as `OperationExecutionOptions` does.
        """
        return OperationExecutionOptions(operation, accumulator_dtype, policy=self)

    # --- resolution -------------------------------------------------------------------------

    def resolve(
        self,
        operation: str,
        *operands: object,
        accumulator_dtype: SimpleDType | None = None,
        options: OperationExecutionOptions | None = None,
        working_dtype: SimpleDType | None = None,
    ) -> OperationPlan:
        """Return the plan of `operation` on `operands`: storage dtypes and weak Python scalars.

        `working_dtype` (`norm` only) is a wider real dtype in which the terms too are computed: the
        plan then converts, computes and accumulates as that of the wider operand, and its output
        stays.

        No tensor element is read. Raises, in this order: `TypeError` when both `options` and
        `accumulator_dtype` are given or `options` is no options record, `ValueError` for options
        of another operation, `NotImplementedError` for an unregistered operation, `TypeError` for
        an abstract category anywhere, then for the accumulator and the working dtype, the operand
        count, the roles and each operand from left to right (`TypeError`, `NotImplementedError`
        for compound and unimplemented dtypes, `OverflowError` for a weak integer outside Int32 on
        an integer path), `TypeError` for a floating accumulator of an exact-integer plan,
        `ValueError` for a rule that returned a plan of another operation, roles or source dtypes,
        `NotImplementedError` for a working or accumulator dtype that this plan cannot take.
        """
        key = _cache_key(operation, operands, accumulator_dtype, options, working_dtype)
        if key is not None:
            plan = self._plans.get(key)
            if plan is not None:
                return plan
        plan = self._resolve(operation, operands, accumulator_dtype, options, working_dtype)
        if key is not None:
            self._plans[key] = plan
        return plan

    def _resolve(
        self,
        operation: str,
        operands: tuple[object, ...],
        accumulator_dtype: object,
        options: object,
        working_dtype: Any,
    ) -> OperationPlan:
        requested = _requested_accumulator(operation, accumulator_dtype, options)
        spec = self.check_concrete(operation, operands)
        if requested is not None:
            check_accumulator(operation, requested, self.accumulators)
        elif options is not None:
            check_configurable(operation, self.accumulators)
        if working_dtype is not None:
            check_working(operation, working_dtype)
        overload = _select_overload(spec, operands, takes_complex=self._takes_complex(spec))
        plan = self._by_rule(spec, overload, operands, requested)
        if working_dtype is not None:
            plan = self._widened(spec, overload, plan, working_dtype)
        if requested is None:
            return plan
        return self._with_accumulator(plan, requested)

    def _widened(
        self,
        spec: OperationSpec,
        overload: OperationOverload,
        plan: OperationPlan,
        working: SimpleDType,
    ) -> OperationPlan:
        """Return `plan` computed as its operands in the format of `working` would be."""
        offered = self._accumulators_of(plan)
        if not any(working is dtype for dtype in offered):
            raise UnsupportedError(
                f"{plan.operation}: working_dtype",
                f"{working.name} for {plan.signature}",
                " or ".join(dtype.name for dtype in offered),
            )
        if working is plan.accumulator_dtype:
            return plan
        sources = tuple(operand.dtype for operand in plan.operands if operand.dtype is not None)
        wide = tuple(complex_of(working) if is_complex(dtype) else working for dtype in sources)
        widened = self._by_rule(spec, overload, wide)
        operands = tuple(
            replace(operand, dtype=dtype)
            for operand, dtype in zip(widened.operands, sources, strict=True)
        )
        return replace(widened, operands=operands, output=plan.output)

    def check_concrete(self, operation: str, operands: Sequence[object]) -> OperationSpec:
        """Return the specification of `operation` if no operand is an abstract category.

        The first two checks of a resolution, for a caller whose operands cannot all be read.
        Raises `NotImplementedError` for an unregistered operation, `TypeError` for a category.
        """
        spec = self._registered(operation)
        for position, operand in enumerate(operands):
            if isinstance(operand, DTypeCategory):
                raise _abstract(operation, position, operand)
        return spec

    def _registered(self, operation: str) -> OperationSpec:
        spec = self.spec(operation)
        if spec is None:
            raise UnsupportedError(
                f"{operation}",
                "no such operation in this policy",
                "a name of registered_operations()",
                "`bittrue plans` lists them",
            )
        return spec

    def _takes_complex(self, spec: OperationSpec) -> bool:
        return any(
            isinstance(overload.rule, RowRule)
            and any(WeakCondition.COMPLEX in row.weak_conditions for row in overload.rule.rows)
            for overload in spec.overloads
        )

    def _by_rule(
        self,
        spec: OperationSpec,
        overload: OperationOverload,
        operands: tuple[object, ...],
        requested: SimpleDType | None = None,
    ) -> OperationPlan:
        """Check the operands from left to right, run the rule, check what it returned."""
        tensors = iter(self._accepted(overload))
        for position, (role, operand) in enumerate(zip(overload.roles, operands, strict=True)):
            if role is OperandRole.TENSOR:
                self._check_tensor(spec, position, operand, next(tensors))
            else:
                _check_scalar(spec.name, position, operand, overload)
        plan = overload.rule(*operands)
        if requested is not None and isinstance(plan, OperationPlan):
            _check_floating(plan, requested)
        _check_plan(spec.name, overload, operands, plan)
        return plan

    def _accepted(self, overload: OperationOverload) -> tuple[tuple[SimpleDType, ...], ...]:
        """Return the dtypes accepted by each tensor role of an overload."""
        if overload.tensor_domains is not None:
            return overload.tensor_domains
        tensors = sum(role is OperandRole.TENSOR for role in overload.roles)
        return (self.tensor_dtypes or IMPLEMENTED[:2],) * tensors

    def _check_tensor(
        self,
        spec: OperationSpec,
        position: int,
        operand: object,
        accepted: tuple[SimpleDType, ...],
    ) -> None:
        subject = f"{spec.name}: operand {position}"
        names = " or ".join(dtype.name for dtype in accepted)
        if isinstance(operand, SimpleDType):
            if any(operand is dtype for dtype in accepted):
                return
            if any(operand is dtype for dtype in (*IMPLEMENTED, *_mentioned(spec))):
                raise PromotionError(
                    subject,
                    f"has dtype {operand.name}",
                    names,
                    f"convert it with asarray(x, {accepted[0]!r})",
                )
            raise UnsupportedError(
                subject,
                f"{operand.name} is registered but this operation does not implement it",
                names,
                f"convert it with asarray(x, {accepted[0]!r})",
            )
        if isinstance(operand, DTypeCategory):
            raise _abstract(spec.name, position, operand)
        if isinstance(operand, CompoundDType):
            raise UnsupportedError(
                subject,
                f"{operand.name} is a compound dtype; representation-aware planning is deferred",
                names,
            )
        raise RefusedTypeError(
            subject,
            f"got {shown(operand)}",
            f"a storage dtype, {names}",
            "pass the descriptor itself; dtypes are matched by identity",
        )

    def _with_accumulator(self, plan: OperationPlan, requested: SimpleDType) -> OperationPlan:
        offered = self._accumulators_of(plan)
        if not any(requested is dtype for dtype in offered):
            raise UnsupportedError(
                f"{plan.operation}: accumulator_dtype",
                f"{requested.name} for {plan.signature}",
                " or ".join(dtype.name for dtype in offered),
            )
        if requested is plan.accumulator_dtype:
            return plan
        return replace(plan, accumulator_dtype=requested)

    # --- union ------------------------------------------------------------------------------

    def __or__(self, other: object) -> Policy:
        if not isinstance(other, Policy):
            return NotImplemented
        return _union(self, other)


def specs_of(
    rows: Iterable[Row], operations: Iterable[OperationSpec] = ()
) -> tuple[OperationSpec, ...]:
    """Build the specifications of `rows`, joined with the rule overloads of `operations`.

    `operations` gives `public` and `dtype_operand_positions` of an operation, and overloads whose
    rule is a callable of its own; row overloads it holds are rebuilt. A declared domain is
    derived: None where every dtype of the whole domain is accepted, else the dtypes of the rows.
    """
    all_rows = tuple(sorted(rows, key=_ROW_ORDER))
    domain = tensor_domain_of(all_rows)
    overloads: dict[str, dict[tuple[OperandRole, ...], OperationOverload]] = {}
    metadata: dict[str, tuple[bool, tuple[int, ...] | None]] = {}
    for spec in operations:
        metadata[spec.name] = (spec.public, spec.dtype_operand_positions)
        for overload in spec.overloads:
            if not isinstance(overload.rule, RowRule):
                overloads.setdefault(spec.name, {})[overload.roles] = overload
    for (operation, roles), group in itertools.groupby(all_rows, lambda r: (r.operation, r.roles)):
        rule = RowRule(operation, roles, tuple(group))
        if roles in overloads.get(operation, {}):
            raise RefusedValueError(
                f"Policy row of {operation!r}",
                f"the overload {tuple(role.value for role in roles)} has a rule of its own",
                "rows or a rule for one overload, not both",
            )
        overload = OperationOverload(roles, rule, _domains(rule, domain))
        overloads.setdefault(operation, {})[roles] = overload
    return tuple(
        OperationSpec(
            name,
            tuple(signatures[roles] for roles in sorted(signatures, key=overload_order)),
            *metadata.get(name, (True, None)),
        )
        for name, signatures in sorted(overloads.items())
    )


def tensor_domain_of(rows: Iterable[Row]) -> tuple[SimpleDType, ...]:
    """Return the dtypes at tensor positions of `rows`, Bool apart, in the order of the list."""
    named = {dtype for row in rows for dtype in row.tensor_dtypes if dtype is not DType.Bool}
    return tuple(sorted(named, key=lambda dtype: dtype.index))


def _domains(
    rule: RowRule, domain: tuple[SimpleDType, ...]
) -> tuple[tuple[SimpleDType, ...], ...] | None:
    positions = [i for i, role in enumerate(rule.roles) if role is OperandRole.TENSOR]
    accepted = []
    for position in positions:
        named = {s for s in rule.selectors_at(position) if isinstance(s, SimpleDType)}
        accepted.append(tuple(sorted(named, key=lambda dtype: dtype.index)))
    return None if all(dtypes == domain for dtypes in accepted) else tuple(accepted)


def _rows_of(specs: Iterable[OperationSpec]) -> dict[tuple[object, ...], Row]:
    return {
        row.key: row
        for spec in specs
        for overload in spec.overloads
        if isinstance(overload.rule, RowRule)
        for row in overload.rule.rows
    }


def _canonical(spec: OperationSpec) -> OperationSpec:
    """Return the specification with its overloads in the order of enumeration."""
    overloads = tuple(sorted(spec.overloads, key=lambda overload: overload_order(overload.roles)))
    return spec if overloads == spec.overloads else replace(spec, overloads=overloads)


def _accumulator_order(row: AccumulatorRow) -> tuple[str, int]:
    return row[0], row[1].index


def _mentioned(spec: OperationSpec) -> Iterator[SimpleDType]:
    for overload in spec.overloads:
        if isinstance(overload.rule, RowRule):
            for row in overload.rule.rows:
                yield from row.tensor_dtypes
        for domain in overload.tensor_domains or ():
            yield from domain


def _candidates(
    overload: OperationOverload, dtypes: Sequence[SimpleDType], scalars: Sequence[object]
) -> list[tuple[object, ...]]:
    """Return what an enumeration offers to each position of an overload."""
    domains = iter(overload.tensor_domains or ())
    offered: list[tuple[object, ...]] = []
    for role in overload.roles:
        if role is OperandRole.WEAK_SCALAR:
            offered.append(tuple(scalars))
        elif overload.tensor_domains is None:
            offered.append(tuple(dtypes))
        else:
            domain = next(domains)
            if len(domain) == 1 and domain[0] is DType.Bool:
                # Every overload shape is enumerated, though no caller's domain offers Bool.
                offered.append(domain)
            else:
                cut = (dtype for dtype in dtypes if any(dtype is member for member in domain))
                offered.append(tuple(cut))
    return offered


def _cache_key(
    operation: object,
    operands: tuple[object, ...],
    accumulator_dtype: object,
    options: object,
    working_dtype: object,
) -> tuple[object, ...] | None:
    """Key of a resolution, None where an operand is of a kind that is never cached."""
    if type(operation) is not str or (accumulator_dtype is not None and options is not None):
        return None
    for dtype in (accumulator_dtype, working_dtype):
        if dtype is not None and type(dtype) is not SimpleDType:
            return None
    if options is not None and type(options) is not OperationExecutionOptions:
        return None
    key: list[object] = [operation, accumulator_dtype, options, working_dtype]
    for operand in operands:
        if type(operand) is SimpleDType:
            key.append(operand)
        else:
            condition = weak_condition(operand)
            if condition is None:
                return None
            key.append(condition)
    return tuple(key)


def _requested_accumulator(operation: object, accumulator_dtype: object, options: object) -> Any:
    if options is None:
        return accumulator_dtype
    if accumulator_dtype is not None:
        raise RefusedTypeError(
            f"{operation}", "both options and accumulator_dtype were given", "one of them"
        )
    if not isinstance(options, OperationExecutionOptions):
        raise RefusedTypeError(
            f"{operation}: options",
            f"got {shown(options)}",
            "OperationExecutionOptions",
            "build it with operation_execution_options",
        )
    if options.operation != operation:
        raise RefusedValueError(
            f"{operation}: options", f"made for {options.operation!r}", f"options of {operation!r}"
        )
    return options.accumulator_dtype


def _abstract(operation: str, position: int, category: DTypeCategory) -> RefusedTypeError:
    return RefusedTypeError(
        f"{operation}: operand {position}",
        f"{category.name} is an abstract category, not an operation storage dtype",
        "a SimpleDType",
        "name the dtype in which the elements are stored",
    )


def _fits(operand: object, role: OperandRole, *, takes_complex: bool) -> bool:
    if isinstance(operand, DType):
        return role is OperandRole.TENSOR
    if isinstance(operand, numbers.Real):
        # A real number with a dtype is a NumPy scalar: typed, and no storage dtype either.
        return not hasattr(operand, "dtype") and role is OperandRole.WEAK_SCALAR
    if takes_complex and isinstance(operand, numbers.Complex):
        return not hasattr(operand, "dtype") and role is OperandRole.WEAK_SCALAR
    return True


def _select_overload(
    spec: OperationSpec, operands: tuple[object, ...], *, takes_complex: bool
) -> OperationOverload:
    counts = sorted({len(overload.roles) for overload in spec.overloads})
    if len(operands) not in counts:
        accepted = " or ".join(str(count) for count in counts)
        raise RefusedTypeError(spec.name, f"got {len(operands)} operands", accepted)
    fitting = [
        overload
        for overload in spec.overloads
        if len(overload.roles) == len(operands)
        and all(
            _fits(operand, role, takes_complex=takes_complex)
            for operand, role in zip(operands, overload.roles, strict=True)
        )
    ]
    if fitting:
        # What is neither dtype nor number lands on a scalar position where there is one.
        return max(fitting, key=lambda overload: overload_order(overload.roles))
    signatures = " or ".join(
        f"({', '.join(role.value for role in overload.roles)})" for overload in spec.overloads
    )
    came = ", ".join(
        "tensor" if isinstance(operand, DType) else shown(operand) for operand in operands
    )
    advice = "pass Python numbers as scalars and dtypes as tensors"
    if any(hasattr(operand, "dtype") for operand in operands if not isinstance(operand, DType)):
        advice = "a NumPy scalar has a dtype: plan with that dtype, or make it a Python number"
    raise RefusedTypeError(spec.name, f"got roles ({came})", signatures, advice)


def _check_scalar(
    operation: str, position: int, operand: object, overload: OperationOverload
) -> None:
    condition = weak_condition(operand)
    accepted: Iterable[object] = REAL_CONDITIONS
    if isinstance(overload.rule, RowRule):
        accepted = (*REAL_CONDITIONS, *overload.rule.selectors_at(position))
    if condition is None or condition not in accepted:
        raise RefusedTypeError(
            f"{operation}: operand {position}",
            f"got {shown(operand)}",
            "a weak scalar, which must be a real number",
            "pass an int, float, bool or Fraction",
        )


def _check_floating(plan: OperationPlan, requested: SimpleDType) -> None:
    """Refuse a floating accumulator for a plan that does not accumulate in floating point."""
    if plan.accumulation is not Accumulation.FLOATING:
        raise RefusedTypeError(
            f"{plan.operation}: accumulator_dtype",
            f"{requested.name} for an exact-integer plan ({plan.signature})",
            "none",
            "leave accumulator_dtype out",
        )


def _check_plan(
    operation: str, overload: OperationOverload, operands: tuple[object, ...], plan: object
) -> None:
    """Refuse a plan that disagrees with its registration: the rule is broken, not the call."""
    subject = f"{operation}: the rule of overload {tuple(role.value for role in overload.roles)}"
    if not isinstance(plan, OperationPlan):
        raise RefusedValueError(subject, f"returned {type_name(plan)}", "an OperationPlan")
    sources = tuple(
        operand if role is OperandRole.TENSOR else None
        for role, operand in zip(overload.roles, operands, strict=True)
    )
    agrees = (
        plan.operation == operation
        and tuple(planned.role for planned in plan.operands) == overload.roles
        and all(a.dtype is b for a, b in zip(plan.operands, sources, strict=True))
    )
    if not agrees:
        raise RefusedValueError(
            subject,
            f"returned a plan of another registration: {plan}",
            f"a plan of {operation!r} with these roles and source dtypes",
        )


def _union(left: Policy, right: Policy) -> Policy:
    rows = {row.key: row for row in left.rows}
    for row in right.rows:
        if rows.setdefault(row.key, row).plan != row.plan:
            raise RefusedValueError(
                f"{left.name or 'policy'} | {right.name or 'policy'}",
                f"two plans for the key {row.key}",
                "equal plans for one key",
            )
    specs: dict[str, OperationSpec] = {}
    for spec in (*left.operation_specs, *right.operation_specs):
        known = specs.get(spec.name)
        specs[spec.name] = spec if known is None else _merged(known, spec)
    accumulators: dict[tuple[str, SimpleDType], AccumulatorRow] = {}
    for entry in (*left.accumulators, *right.accumulators):
        if accumulators.setdefault(entry[:2], entry) != entry:
            raise RefusedValueError(
                "Policy union", f"two accumulator rows for {entry[:2]}", "equal rows for one key"
            )
    probes = _ordered_probes((*left.weak_probes, *right.weak_probes))
    name = " | ".join(dict.fromkeys(part for p in (left, right) for part in p.name.split(" | ")))
    return Policy(
        tuple(rows.values()),
        specs_of(rows.values(), specs.values()),
        tuple(accumulators.values()),
        probes,
        name,
    )


def _merged(left: OperationSpec, right: OperationSpec) -> OperationSpec:
    """Join two specifications of one operation: metadata must agree, own rules must be the same."""
    subject = f"Policy union: operation {left.name!r}"
    if (left.public, left.dtype_operand_positions) != (right.public, right.dtype_operand_positions):
        raise RefusedValueError(
            subject, "public or dtype_operand_positions differ", "equal metadata"
        )
    overloads = {overload.roles: overload for overload in left.overloads}
    for overload in right.overloads:
        known = overloads.setdefault(overload.roles, overload)
        by_rows = isinstance(known.rule, RowRule), isinstance(overload.rule, RowRule)
        if by_rows != (True, True) and known != overload:
            raise RefusedValueError(
                subject, f"two rules for the roles {overload.roles}", "one rule for one signature"
            )
    return OperationSpec(
        left.name, tuple(overloads.values()), left.public, left.dtype_operand_positions
    )


def _ordered_probes(probes: Iterable[Any]) -> tuple[Any, ...]:
    # True == 1 and 3 == 3.0: probes are the same only if type and value are.
    distinct = {(type(probe), probe): probe for probe in probes}
    known = {(type(probe), probe): i for i, probe in enumerate(PROBE_ORDER)}
    return tuple(
        sorted(
            distinct.values(),
            key=lambda p: (known.get((type(p), p), len(known)), type(p).__name__, repr(p)),
        )
    )
