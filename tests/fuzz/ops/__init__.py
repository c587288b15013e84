"""One table of all operations that programs are made of."""

from fuzz.ops import elementwise, products, reductions, shapes

PARTS = (elementwise, products, reductions, shapes)
TABLE = {op.name: op for part in PARTS for op in part.OPS}
