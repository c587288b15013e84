"""`horngate engines install` and `remove`: engines in folders of their own, with pinned versions and hashes.

Needs nothing but Python's own library, because the command `horngate` also runs it where the module
horngate is not installed: `python3 <this folder> install tensorflow`.
"""
