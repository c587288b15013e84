"""A fuzzer of whole graphs; README.md says how it works."""
