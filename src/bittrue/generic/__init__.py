"""Generic: the reference executor, in plain Python over exact integers.

Never here: speed, NumPy, a dtype decision. Clause: operation-dtype-policy, *Generic is the concrete
semantic reference*.
"""

from bittrue.generic.array import Array
from bittrue.generic.execute import execute, supports

__all__ = ["Array", "execute", "supports"]
