"""Tests of several processes; `make test-distributed`."""
