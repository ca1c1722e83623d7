"""The page: self-contained, escaped, and with every row of the run."""

import re
from html.parser import HTMLParser

import pytest

from bittrue.conformance import Mismatch, PlanReport
from bittrue.policy import SIMPLE
from bittrue.report import html

PLAN = SIMPLE.plans()[0]
EMPTY = {"meta", "input", "br"}


class Page(HTMLParser):
    """Elements, attributes and text of a page; every element must be closed in order."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.words = [], [], []
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in {"script", "style"}:
            self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.mark.rule("report.html")
def test_page_says_what_the_table_says(mixed):
    page = Page(html.render(mixed))
    rows = [attributes["class"] for attributes in page.of("tr") if "class" in attributes]
    assert rows == ["departs", "departs", "order", "nan", "equal", "refused"]
    for shown in (
        "bittrue verify: fast against generic",
        "policy simple, 20 cases a plan, seed 7",
        "4 of 120 cases depart.",
        "add(3f800000 (1), 33800001 (5.96046519e-08)) is 3f800001 (1.00000012); fast: 3f800000 (1)",
        "breaks: the exact sum rounded once to binary32",
        "refused: RuntimeError: too small",
        "Float32 -> Float32, sum in Float64",
    ):
        assert shown in page.text
    cells = re.findall(r'<td class="n">(\d+)</td>', html.render(mixed))
    assert list(map(int, cells[:6])) == [20, 12, 2, 3, 0, 3]


@pytest.mark.rule("report.html.filters")
def test_every_verdict_has_its_filter_and_count(mixed):
    page = Page(html.render(mixed))
    boxes = [a["data-verdict"] for a in page.of("input") if "data-verdict" in a]
    assert boxes == ["departs", "refused", "order", "nan", "equal"]
    for words in ("departs (2)", "refused (1)", "order of sums (1)", "NaN bits (1)", "equal (1)"):
        assert words in page.text


@pytest.mark.rule("report.html.self-contained")
def test_page_names_nothing_outside_itself(mixed):
    source = html.render(mixed)
    for outside in ("http:", "https:", "//", "url(", "@import", "import(", "fetch(", "srcset"):
        assert outside not in source, outside
    page = Page(source)
    loading = {"src", "href", "data", "action", "poster", "background"}
    for tag, attributes in page.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert not loading & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)


HOSTILE = "</script><script>alert('1')</script><img src=x onerror=\"a&b\">"


@pytest.mark.rule("report.html.escaped")
@pytest.mark.parametrize(
    "field", ["backend", "against", "policy", "versions", "reason", *Mismatch.__slots__]
)
def test_words_of_others_stay_words(run_of, field):
    """Names and error texts come from other libraries; none of them becomes markup."""
    words = dict.fromkeys(("expected", "actual", "kind", "rule"), "x")
    mismatch = {"operands": ("x",), "ulps": 2, **words}
    reason, fields = "x", {}
    if field == "operands":
        mismatch[field] = (HOSTILE,)
    elif field in mismatch:
        mismatch[field] = HOSTILE
    elif field == "reason":
        reason = HOSTILE
    elif field == "versions":
        fields[field] = {"x": HOSTILE}
    else:
        fields[field] = HOSTILE
    report = PlanReport(PLAN, 2, 0, 1, 0, 0, 1, reason, Mismatch(**mismatch))
    page = Page(html.render(run_of(report, **fields)))
    assert len(page.of("script")) == 1
    assert not page.of("img")
    assert HOSTILE in page.text
