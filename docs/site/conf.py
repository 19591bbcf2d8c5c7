"""How Sphinx makes the site of scripts/docs."""

import os
import sys
from pathlib import Path

# conf.py is copied to build/site-source, two folders below the root.
sys.path.insert(0, str(Path(os.path.abspath(__file__)).parents[2] / "python"))

project = "nonzero"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "nonzero"
html_extra_path = ["extra"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
exclude_patterns = ["extra"]
myst_heading_anchors = 4
# The docstrings are read without the library, which need not be built for this Python.
autodoc_mock_imports = ["nonzero._nonzero", "torch"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
# The sources' links are tested by test/links_test.py; anchors differ in punctuation alone.
suppress_warnings = [
    "myst.xref_missing",
    "misc.highlighting_failure",
    "autodoc.mocked_object",
    "ref.python",
]
