"""The names of the package: which are loaded at import and which later."""

import subprocess
import sys

import pytest

import bittrue


def run_python(code):
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout


def test_every_public_name_is_there_and_listed():
    for name in bittrue.__all__:
        assert getattr(bittrue, name) is not None, name
    assert set(bittrue.__all__) <= set(dir(bittrue))


def test_a_name_loaded_later_is_that_of_its_module():
    for module, names in bittrue._LATER.items():  # noqa: SLF001
        for name in names:
            assert name in bittrue.__all__
            assert getattr(bittrue, name) is getattr(sys.modules[module], name)


def test_an_import_loads_no_module_that_only_some_calls_need():
    """They would double the time of an import, which every process pays."""
    code = "import bittrue, sys; print(*sys.modules)"
    loaded = set(run_python(code).split())
    later = {"bittrue.conversion", "bittrue.postprocess", "bittrue.conformance"}
    later |= {"bittrue.generic", "bittrue.cpu", "bittrue.array_api", "gmpy2", "rich", "ml_dtypes"}
    assert not loaded & later


@pytest.mark.parametrize("name", ["array_api", "conversion", "postprocess", "conformance"])
def test_a_submodule_is_loaded_when_asked_for(name):
    assert (
        run_python(f"import bittrue; print(bittrue.{name}.__name__)").strip() == f"bittrue.{name}"
    )


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'float99'"):
        _ = bittrue.float99
