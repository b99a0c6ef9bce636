"""Configuration of the reference site. `python -m notebooks.reference.build` makes it."""

project = "harness_nb"
author = "The harness_nb authors"
copyright = author  # noqa: A001 - the name that Sphinx reads
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "reference/index"
exclude_patterns = ["images", "**/.ipynb_checkpoints"]
html_theme = "furo"
html_title = "harness_nb"
html_show_sourcelink = False

nb_execution_mode = "off"  # what is stored is shown; tests run the notebooks
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
add_module_names = False
default_role = "code"  # docstrings mark code with single backticks
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # an attribute that is also documented where it is defined is one entry, not two

suppress_warnings = [
    "misc.highlighting_failure",  # the body of an %%agent cell is prose, whatever language it is shown as
    "mystnb.unknown_mime_type",  # the picture of a chart stands beside what only a notebook can draw
]
