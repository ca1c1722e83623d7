"""Reports: verifications and plans as text, Markdown and HTML. Pure functions of records."""

from bittrue.report import html, plans, text

__all__ = ["html", "plans", "text"]
