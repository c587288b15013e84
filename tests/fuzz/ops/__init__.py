"""One table of all operations that programs are made of."""

from fuzz.ops import convolutions, drawn, elementwise, loops, nn, products, reductions, shapes
from fuzz.ops import special

PARTS = (elementwise, products, reductions, shapes, nn, convolutions, loops, drawn, special)
TABLE = {op.name: op for part in PARTS for op in part.OPS}
