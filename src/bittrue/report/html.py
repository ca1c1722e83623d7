"""A verification as one self-contained HTML page: no network, light and dark."""

from __future__ import annotations

from html import escape

from bittrue.conformance import PlanReport, Verification
from bittrue.report.text import heading, mismatch_line, plan_label, summary

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --bad: #c0362c; --warn: #b7791f;
  --good: #2f855a; }
@media (prefers-color-scheme: dark) { :root { --bad: #f28b82; --warn: #f6c667; --good: #7bd19a; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem;
  padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
thead th { position: sticky; top: 0; background: Canvas; }
code { font: 13px/1.4 ui-monospace, monospace; }
.detail { color: GrayText; overflow-wrap: anywhere; }
.departs .verdict { color: var(--bad); font-weight: 600; }
.refused .verdict, .order .verdict, .nan .verdict { color: var(--warn); }
.equal .verdict { color: var(--good); }
fieldset { border: 1px solid var(--line); border-radius: .4rem; margin: 1rem 0; }
label { margin-right: 1rem; }
"""

_SCRIPT = """
const boxes = [...document.querySelectorAll('input[data-verdict]')];
const text = document.querySelector('input[type=search]');
function apply() {
  const on = new Set(boxes.filter(b => b.checked).map(b => b.dataset.verdict));
  for (const row of document.querySelectorAll('tbody tr')) {
    row.hidden = !on.has(row.className) || !row.textContent.includes(text.value);
  }
}
boxes.forEach(b => b.addEventListener('change', apply));
text.addEventListener('input', apply);
"""

_VERDICTS = (
    ("departs", "departs"),
    ("refused", "refused"),
    ("order", "order of sums"),
    ("nan", "NaN bits"),
    ("equal", "equal"),
)
_COUNTS = ("cases", "equal", "refused", "nan_bits", "association", "departures")
_HEADINGS = ("cases", "equal", "refused", "NaN bits", "order", "departs")


def _detail(report: PlanReport, backend: str) -> str:
    parts = []
    if report.first is not None:
        shown = escape(mismatch_line(report, report.first, backend))
        parts.append(
            f"{escape(report.first.kind)}: <code>{shown}</code><br>breaks: "
            f"{escape(report.first.rule)}"
        )
    if report.reason:
        parts.append(f"refused: {escape(report.reason)}")
    return f'<div class="detail">{"<br>".join(parts)}</div>' if parts else ""


def _row(report: PlanReport, backend: str) -> str:
    counts = "".join(f'<td class="n">{getattr(report, count)}</td>' for count in _COUNTS)
    words = dict(_VERDICTS)[report.verdict]
    return (
        f'<tr class="{report.verdict}"><td><code>{escape(report.plan.operation)}</code></td>'
        f"<td>{escape(plan_label(report.plan))}{_detail(report, backend)}</td>"
        f'<td class="verdict">{words}</td>{counts}</tr>'
    )


def render(run: Verification) -> str:
    """Return the page."""
    filters = "".join(
        f'<label><input type="checkbox" data-verdict="{verdict}" checked> {words} '
        f"({run.count(verdict)})</label>"
        for verdict, words in _VERDICTS
    )
    headings = "".join(f'<th class="n">{escape(name)}</th>' for name in _HEADINGS)
    rows = "\n".join(_row(report, run.backend) for report in run.reports)
    title = f"bittrue verify: {run.backend} against {run.against}"
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
<h1>{escape(title)}</h1>
<p>{escape(heading(run))}</p>
<p><strong>{escape(summary(run))}</strong></p>
<fieldset><legend>Show</legend>{filters}
<label>containing <input type="search"></label></fieldset>
<table>
<thead><tr><th>operation</th><th>plan</th><th>verdict</th>{headings}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
<script>{_SCRIPT}</script>
</html>
"""
