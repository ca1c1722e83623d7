"""Exception classes and the one form of their text.

Every refusal says what came, what is accepted and what to do. The class of each failure is the one
that the requirement names (`TypeError`, `ValueError`, `NotImplementedError`, `OverflowError`,
`IndexError`), so callers may catch the built-in class; `BittrueError` catches all of them and
carries the parts of the text as fields.
"""

from __future__ import annotations


class BittrueError(Exception):
    """A refusal by bittrue.

    Fields: `subject` (who refuses, for example ``"add: operand 1"``), `came` (what was given),
    `accepted` (what would be taken), `advice` (what to do; may be empty).
    """

    def __init__(self, subject: str, came: str, accepted: str = "", advice: str = "") -> None:
        self.subject = subject
        self.came = came
        self.accepted = accepted
        self.advice = advice
        super().__init__(subject, came, accepted, advice)

    def __str__(self) -> str:
        text = f"{self.subject}: {self.came}"
        if self.accepted:
            text += f"; expected {self.accepted}"
        if self.advice:
            text += f"; {self.advice}"
        return text


class RefusedTypeError(BittrueError, TypeError):
    """A dtype, role or argument of a kind that the contract does not take."""


class RefusedValueError(BittrueError, ValueError):
    """A shape, name or attribute value that the contract does not take."""


class RefusedAxisError(BittrueError, ValueError, IndexError):
    """An axis outside the rank of its tensor."""


class RefusedIndexError(BittrueError, IndexError):
    """An index element outside its axis."""


class UnsupportedError(BittrueError, NotImplementedError):
    """Something registered or named that no plan or backend implements."""


class ResultDTypeError(BittrueError, TypeError):
    """A result of another dtype than the plan's output, by the library that computed it."""


class ExchangeError(BittrueError, BufferError):
    """Memory that cannot be shared through an exchange protocol."""


class PromotionError(RefusedTypeError):
    """Implemented dtypes in a combination for which the operation has no row."""


class UnknownNameError(BittrueError, LookupError):
    """A name that is not registered, or is one of another kind."""


class UnknownFormatError(UnknownNameError, KeyError):
    """A name that no format has."""


class RejectedError(RefusedValueError):
    """A conversion or post-processing request that is rejected before anything exists.

    `category` names the kind of fault; `position` the index of the offending element, None where
    there is none.
    """

    def __init__(
        self,
        category: str,
        subject: str,
        came: str,
        accepted: str = "",
        advice: str = "",
        position: tuple[int, ...] | None = None,
    ) -> None:
        self.category = category
        self.position = position
        super().__init__(subject, came, accepted, advice)
        self.args = (category, subject, came, accepted, advice, position)


class RangeError(BittrueError, OverflowError):
    """An exact result or scalar that its destination dtype cannot hold."""


class Int32OverflowError(RangeError):
    """An exact result outside Int32. `position` is its index in the result."""

    def __init__(self, operation: str, position: tuple[int, ...]) -> None:
        self.position = position
        super().__init__(
            operation,
            f"the exact result at index {position} is outside Int32",
            "results in [-2147483648, 2147483647]",
            "convert the operands to Float32 to compute in floating point",
        )
        self.args = (operation, position)
