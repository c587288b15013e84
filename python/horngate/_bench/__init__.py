"""`horngate bench`: a minute's check of this machine, beside NumPy and what else is installed."""
