"""Fixtures of the tests of post-processing; what they share at import is `postprocess_support`."""

import sys
from pathlib import Path

import pytest

# Test files are imported one by one, without a package around them.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=["generic", "cpu"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each executor in turn."""
    return request.param
