"""Sphinx configuration; `make docs` builds with warnings as errors.

Tables are written from the rows they describe at each build and stand in the pages as
``{{ name }}``; a page types no second copy of a row.
"""

import itertools
import re
import tomllib
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ConfigError

import bittrue
from bittrue.conformance.rules import OF_COMPLEX, RULES
from bittrue.dtypes import COMPOUNDS, ENCODINGS, SCALARS, EncodingRow
from bittrue.geometry import attributes_of
from bittrue.postprocess import MODES, Mode
from bittrue.providers.registry import BACKENDS
from bittrue.report.plans import plans_markdown

DOCS = Path(__file__).parent

project = "bittrue"
author = "The bittrue developers"
copyright = "The bittrue developers"  # noqa: A001 - the name Sphinx reads
version = release = installed_version("bittrue")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist", "substitution"]
myst_heading_anchors = 3
nitpicky = True

# A docstring names code in single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"bittrue {release}"


# --- tables -------------------------------------------------------------------------------------


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Write a Markdown table."""
    heading = tuple(head)
    lines = (heading, ("---",) * len(heading), *rows)
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def width(value: Any) -> str:
    """Write a field width: a number, a range, or nothing."""
    if value is None:
        return ""
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


def dtype_cells(row: EncodingRow) -> tuple[str, ...]:
    """Describe one simple dtype."""
    fields = row.fields
    split = (
        ("", "", "", "")
        if fields is None
        else (
            "" if fields.sign_bit is None else "1",
            width(fields.exponent_bits),
            width(fields.fraction_bits),
            width(fields.bias),
        )
    )
    return (f"`{row.dtype}`", row.encoding, row.category, str(row.lane_bits), *split)


def compound_cells(
    name: str, planes: tuple[str, ...], blocks: tuple[int | None, ...]
) -> tuple[str, ...]:
    """Describe one compound dtype."""
    covers = ("the whole tensor" if block is None else str(block) for block in blocks)
    return f"`{name}`", ", ".join(f"`{plane}`" for plane in planes), ", ".join(covers)


def attribute_cells() -> Iterable[tuple[str, str]]:
    """Describe the attributes of every operation that takes some; equal ones share a line."""
    taken = [(spec.name, attributes_of(spec.name)) for spec in bittrue.DEFAULT.specs()]
    ordered = sorted((pair for pair in taken if pair[1]), key=lambda pair: str(pair[1]))
    for attributes, group in itertools.groupby(ordered, key=lambda pair: pair[1]):
        spelled = (
            f"`{a.name}`" if a.default is ... else f"`{a.name}={a.default!r}`" for a in attributes
        )
        yield " ".join(f"`{name}`" for name, _ in group), ", ".join(spelled)


def layers() -> list[str]:
    """List the layers that the import contract of `pyproject.toml` states, highest first."""
    contracts = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["tool"]["importlinter"]
    stated = next(c["layers"] for c in contracts["contracts"] if c["type"] == "layers")
    return [re.sub(r"[()]", "", layer) for layer in stated]


def package_cells() -> Iterable[tuple[str, str]]:
    """Describe every module or package below the root by the first line of its docstring."""
    for name in " | ".join(layers()).split(" | "):
        if find_spec(f"bittrue.{name}") is not None:
            about = import_module(f"bittrue.{name}").__doc__ or ""
            yield f"`{name}`", about.partition("\n")[0]


def backend_cells() -> Iterable[tuple[str, ...]]:
    """Describe every backend."""
    for row in BACKENDS:
        promise = "every bit" if row.runs_by_default else "nothing: it is compared"
        yield f"`{row.name}`", promise, f"`pip install '{row.install}'`" if row.install else ""


def mode_cells(mode: Mode) -> tuple[str, ...]:
    """Describe one mode of post-processing."""
    fixed = "chosen" if mode.rounding is None else f"{mode.rounding.name}, fixed"
    offset = f"S{mode.offset_bits}" if mode.offset_bits else ""
    parameter = f"{mode.parameter.value}{' shift' if mode.shift else ''}"
    return (
        str(mode.code.value),
        f"`{mode.name}`",
        ", ".join(mode.accumulators),
        mode.destination or "the same",
        parameter,
        offset,
        fixed,
        "0 or 1" if mode.saturate_allowed else "0",
    )


def output_of(operation: str, *operands: object) -> str:
    """Name the result dtype, or write a dash where there is no plan."""
    try:
        return bittrue.DEFAULT.resolve(operation, *operands).output.name
    except (bittrue.PromotionError, OverflowError):
        return "-"


def promotion_cells() -> Iterable[tuple[str, ...]]:
    """Write the results of `mul` of every two tensor dtypes."""
    dtypes = bittrue.DEFAULT.tensor_dtypes
    for lhs in dtypes:
        yield f"**{lhs.name}**", *(output_of("mul", lhs, rhs) for rhs in dtypes)


def scalar_promotion_cells() -> Iterable[tuple[str, ...]]:
    """Write the results of `mul` of every tensor dtype with a number of each kind."""
    for dtype in bittrue.DEFAULT.tensor_dtypes:
        yield (
            f"**{dtype.name}**",
            *(output_of("mul", dtype, scalar) for scalar in (3, 0.5, True, 1j)),
        )


def reduction_cells() -> Iterable[tuple[str, ...]]:
    """Describe every reduction of floats by its dtypes; operations with equal ones share lines."""
    described: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for plan in bittrue.REAL_COMPLEX.plans() + bittrue.SIMPLE.plans():
        if plan.accumulation is None or bittrue.REAL_COMPLEX.spec(plan.operation) is None:
            continue
        if any(operand.dtype is not plan.operands[0].dtype for operand in plan.operands):
            continue
        key = (plan.operands[0].convert_to.name, plan.accumulation.name, plan.output.name)
        accumulators = described.setdefault(plan.operation, {}).setdefault(key, [])
        name = "-" if plan.accumulator_dtype is None else plan.accumulator_dtype.name
        if name not in accumulators:
            accumulators.append(name)
    lines: dict[tuple[str, ...], list[str]] = {}
    for operation, rows in described.items():
        for (source, accumulation, output), accumulators in rows.items():
            line = (source, f"`{accumulation}`", ", ".join(accumulators), output)
            lines.setdefault(line, []).append(f"`{operation}`")
    for line, operations in sorted(lines.items(), key=lambda item: item[1]):
        yield " ".join(operations), *line


simple_rows = [row for row in ENCODINGS if row.dtype is not None]
myst_substitutions = {
    "plans": plans_markdown(bittrue.DEFAULT),
    "plan_count": len(bittrue.DEFAULT.plans()),
    "operation_count": len(bittrue.DEFAULT.specs()),
    "simple_plan_count": len(bittrue.SIMPLE.plans()),
    "simple_operation_count": len(bittrue.SIMPLE.specs()),
    "real_complex_count": len(bittrue.REAL_COMPLEX.plans()),
    "promotion": table(
        ("", *(dtype.name for dtype in bittrue.DEFAULT.tensor_dtypes)), promotion_cells()
    ),
    "promotion_of_scalars": table(
        ("tensor", "int", "float", "bool", "complex"), scalar_promotion_cells()
    ),
    "reductions": table(
        ("operations", "operands", "terms combine by", "accumulators", "result"), reduction_cells()
    ),
    "scalars": table(
        ("name", "dtype", "parts", "NumPy", "DLPack code"),
        (
            (
                f"`bittrue.{row.public}`",
                f"`{row.name}`",
                f"2 {row.component}" if row.is_complex else "1",
                row.numpy or "-",
                "-" if row.dlpack is None else row.dlpack,
            )
            for row in SCALARS
        ),
    ),
    "overload_count": sum(len(spec.overloads) for spec in bittrue.SIMPLE.specs()),
    "dtypes": table(
        ("dtype", "encoding", "category", "bits", "sign", "exponent", "fraction", "bias"),
        map(dtype_cells, simple_rows),
    ),
    "compounds": table(
        ("dtype", "planes", "elements that one entry covers"),
        itertools.starmap(compound_cells, COMPOUNDS),
    ),
    "attributes": table(("operations", "attributes"), attribute_cells()),
    "rules": table(
        ("operation", "rule"),
        (
            (
                f"`{name}`{of}",
                text.format(format="its format").replace("|", "\\|").replace("*", "\\*"),
            )
            for rules, of in ((RULES, ""), (OF_COMPLEX, ", complex"))
            for name, text in sorted(rules.items())
        ),
    ),
    "post_process_modes": table(
        ("code", "mode", "accumulator", "D", "words", "offset", "rounding", "Sat"),
        map(mode_cells, MODES.values()),
    ),
    "layers": "\n".join(("```text", *layers(), "```")),
    "packages": table(("package", "is"), package_cells()),
    "backends": table(("backend", "promises", "needs"), backend_cells()),
}


# --- references ---------------------------------------------------------------------------------


def check_api_page() -> None:
    """Fail where the page of the public names lacks one."""
    page = (DOCS / "reference" / "api.md").read_text()
    described = set(re.findall(r"^\.\. auto\w+:: (\w+)", page, re.MULTILINE))
    if described != set(bittrue.__all__):
        difference = sorted(described ^ set(bittrue.__all__))
        msg = f"reference/api.md and bittrue.__all__ differ in {difference}"
        raise ConfigError(msg)


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.Node | None:
    """Resolve a name where it is defined to where it is public.

    Names that are not public, and those of other libraries, stay text: they are no part of the
    documented surface. A public name that resolves nowhere is still an error.
    """
    if node.get("refdomain") != "py":
        return None
    name = node["reftarget"].rpartition(".")[2]
    if name not in bittrue.__all__:
        return content
    return env.domains["py"].resolve_xref(
        env, node["refdoc"], app.builder, "obj", f"bittrue.{name}", node, content
    )


def end_code(
    _app: Sphinx, _kind: str, _name: str, _what: object, _o: object, lines: list[str]
) -> None:
    """End code where its backtick ends: docstrings write plurals such as `Tensor`s."""
    lines[:] = [re.sub(r"(?<=\w)`(?=s\b)", "`\\\\ ", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Connect what the configuration adds."""
    check_api_page()
    app.connect("autodoc-process-docstring", end_code)
    app.connect("missing-reference", resolve)
