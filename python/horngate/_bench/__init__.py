"""`horngate bench`: times this machine for about a minute, beside NumPy and other installed libraries."""
