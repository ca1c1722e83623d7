"""What the tests of reports share."""

import numpy as np
import pytest


@pytest.fixture
def bits():
    """Return the bytes of a tensor, in logical order."""

    def read(x):
        return np.ascontiguousarray(x.buffer.array).tobytes()

    return read
