"""Public modules are attributes of the package, and imported when first used."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("name", ["datasets", "diagnostics", "export", "plan", "plots", "report", "streams"])
def test_a_module_is_there_with_the_package(name):
    code = (
        f"import sys, craftmaps; assert 'craftmaps.{name}' not in sys.modules; assert '{name}' in dir(craftmaps);"
        f"assert craftmaps.{name} is sys.modules['craftmaps.{name}']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_plots_are_there_without_matplotlib():
    code = "import sys, craftmaps; craftmaps.plots.search; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
