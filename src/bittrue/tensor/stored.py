"""What dispatch knows of a tensor: that it is stored in a buffer.

Belongs here: the base class by which the layers below `array` recognise a tensor operand. Never
here: anything that computes; operators and methods belong to `bittrue.array`.
"""

from __future__ import annotations

from bittrue.errors import RefusedTypeError
from bittrue.tensor.buffer import Buffer


class Stored:
    """An object whose elements lie in a `Buffer`."""

    __slots__ = ("_buffer",)
    _buffer: Buffer

    def __init__(self, buffer: Buffer) -> None:
        if not isinstance(buffer, Buffer):
            raise RefusedTypeError(
                type(self).__name__,
                f"got {type(buffer).__name__}",
                "a Buffer",
                "build tensors with asarray",
            )
        self._buffer = buffer

    @property
    def buffer(self) -> Buffer:
        """The storage, as backends see it."""
        return self._buffer
