"""Configuration of the documentation, built by `make docs`."""

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

from craftmaps import __version__

sys.path.insert(0, str(Path(__file__).parent))
import measured

project = "craftmaps"
author = "the craftmaps developers"
project_copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "sg_execution_times.rst", "gallery/sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "code"

autosummary_generate = True
# Beside the function craftmaps.plan.plan: some file systems do not tell upper from lower case.
autosummary_filename_map = {"craftmaps.plan.Plan": "craftmaps.plan.Plan-class"}
autodoc_typehints = "none"
autodoc_default_options = {"inherited-members": True}
numpydoc_show_class_members = False

# Plots are drawn when the pages are built, by the code above them.
plot_include_source = True
plot_html_show_source_link = plot_html_show_formats = False
plot_formats = [("png", 144)]
plot_rcparams = {"figure.figsize": (8.0, 4.0), "font.size": 9.5, "figure.facecolor": "white"}

# The examples of the gallery run whenever the pages are built.
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "reference_url": {"craftmaps": None},
    "backreferences_dir": None,
    "matplotlib_animations": False,
    "image_srcset": ["2x"],
    "abort_on_example_error": True,
    "run_stale_examples": True,  # the library may have changed where the example has not
}

# Formulas become MathML, which browsers draw by themselves: pages need no network and no script.
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "craftmaps"
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "gallery/index": []}
html_css_files = ["pages.css"]
html_static_path = ["_static"]


def measured_role(name: str, rawtext: str, text: str, lineno: int, inliner: Any, *_: Any, **__: Any) -> Any:
    """Show a measured number, with the file that it comes from as its title; refuse one that the file does not have."""
    mark = measured.IN_TEXT.fullmatch(rawtext)
    if mark is None:
        message = inliner.reporter.error(f"Expected :measured:`number <name>`, got {rawtext}", line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    if mark[2] != measured.shown(mark[4]):
        message = inliner.reporter.error(f"{mark[2]} is not {mark[4]}: python docs/measured.py --write", line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    title = measured.sources()[mark[4]]["file"]
    return [nodes.raw("", f'<span title="{title}">{mark[2]}</span>', format="html")], []


def skip_foreign(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn's and Python's classes bring along; it is described in their own documentation."""
    return True if not str(getattr(member, "__module__", "")).startswith("craftmaps") else None


def escape(app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """Escape what a docstring means as plain text and reStructuredText would read as markup: |x| and n_."""
    for i, line in enumerate(lines):
        if "`" not in line and not line.lstrip().startswith((">>>", "..")):
            name, colon, text = line.rpartition(" : ")  # the name of a parameter stays as it is
            lines[i] = name + colon + re.sub(r"(?<=\w)_(?!\w)|\|", r"\\\g<0>", text)


def write_mathml(translator: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, in a line of its own if it is a block."""
    tex = node.astext().replace(r"\dots", r"\ldots")
    markup = latex2mathml.tex2mathml(re.sub(r"(?<=\w) (?=\\log)", r"\,", tex))
    if isinstance(node, nodes.math_block):
        markup = markup.replace("<math ", '<math display="block" style="margin: 1em 0" ', 1)
    translator.body.append(markup)
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Connect the functions above; `escape` comes before numpydoc reads a docstring."""
    app.add_role("measured", measured_role)
    app.add_html_math_renderer("mathml", (write_mathml, None), (write_mathml, None))
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", escape, priority=100)
