"""How the documentation site is made: `make docs` calls Sphinx with this file.

The site loads nothing from elsewhere: search, fonts, formulas (MathML) and pictures are in it, so it can be read from
a disk.  Pages are plain Markdown that also reads well where the sources are looked at.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

from hushpath import __version__  # noqa: E402

project = "hushpath"
author = "The hushpath authors"
project_copyright = "The hushpath authors, Apache-2.0"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "code_pages",
    "command_line",
    "formulas",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_ext"]
myst_enable_extensions = ["colon_fence", "dollarmath", "attrs_block"]
myst_heading_anchors = 4
myst_url_schemes = ["http", "https", "mailto", "code-page"]  # the last: _ext/code_pages.py
suppress_warnings = ["myst.header"]  # proofs begin with sections of their own

smartquotes_action = "D"  # dashes in lists of parameters; quotation marks stay as they were typed

html_theme = "furo"
html_title = f"hushpath {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = html_logo = "_static/logo.svg"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7db7dd", "color-brand-content": "#7db7dd"},
    "navigation_with_keys": True,
}
html_copy_source = False
html_show_sphinx = False
math_renderer = html_math_renderer = "mathml"
pygments_style, pygments_dark_style = "tango", "monokai"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # in the signature they hide the names; docstrings say what is what
python_use_unqualified_type_names = True
napoleon_numpy_docstring = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app):
    """Docstrings name pages as files: here they are links."""

    def linked(*event):
        lines = event[-1]
        lines[:] = [re.sub(r"docs/([\w/-]+)\.md", r":doc:`/\1`", line) for line in lines]

    app.connect("autodoc-process-docstring", linked)
