"""Public modules are attributes of the package, and imported when first used."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("name", ["datasets", "diagnostics", "export", "plan", "report", "streams"])
def test_a_module_is_there_with_the_package(name):
    code = (
        f"import sys, craftmaps; assert 'craftmaps.{name}' not in sys.modules; assert '{name}' in dir(craftmaps);"
        f"assert craftmaps.{name} is sys.modules['craftmaps.{name}']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
