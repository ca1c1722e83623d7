"""Sphinx configuration; `make docs` builds with warnings as errors."""

from importlib.metadata import version as installed_version

project = "bittrue"
author = "The bittrue developers"
copyright = "The bittrue developers"  # noqa: A001 - the name Sphinx reads
version = release = installed_version("bittrue")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "furo"
html_title = f"bittrue {release}"
