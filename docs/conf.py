"""Settings of the documentation site; `python docs/build.py` builds it."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
MARK = "../src/dalembert/viewer/mark.svg"
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent / "src")]

import dalembert  # noqa: E402

project = "dalembert"
author = "the dalembert developers"
version = release = dalembert.__version__
html_show_copyright = False

extensions = [
    *("myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design"),
    *("house_docstrings", "citations", "mathml", "code_blocks", "command_help", "element_drawings", "gallery_page", "verbs"),
]
myst_enable_extensions = ["dollarmath", "colon_fence", "amsmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
numfig = True
numfig_secnum_depth = 1
math_numfig = True
math_number_all = False
math_eqref_format = "({number})"
nitpicky = False

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
add_module_names = False

smartquotes = False

html_theme = "pydata_sphinx_theme"
html_title = "dalembert"
html_static_path = ["static"]
html_css_files = ["house.css"]
html_favicon = MARK
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # without it the theme's script complains on every page
html_theme_options = {
    "logo": {"text": "dalembert", "image_light": MARK, "image_dark": MARK},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": [],
    "footer_end": [],
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {name: [] for name in ("index", "gallery", "gallery/*", "gallery/code/*", "tutorial", "tour")}
