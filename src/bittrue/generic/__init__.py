"""Generic: the reference executor, in plain Python over exact integers.

Never here: speed, NumPy, a dtype decision. Clause: operation-dtype-policy, *Generic is the concrete
semantic reference*.
"""

from bittrue.generic.array import Array
from bittrue.generic.execute import convert_operand, execute, supports
from bittrue.generic.formats import format_of

__all__ = ["Array", "convert_operand", "execute", "format_of", "supports"]
