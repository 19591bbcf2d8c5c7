"""How Sphinx makes the site of scripts/docs."""

project = "nonzero"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "nonzero"
html_extra_path = ["extra"]
exclude_patterns = ["extra"]
myst_heading_anchors = 4
# The sources' links are tested by test/links_test.py; anchors differ in punctuation alone.
suppress_warnings = [
    "toc.not_included",
    "myst.xref_missing",
    "myst.header",
    "misc.highlighting_failure",
]
