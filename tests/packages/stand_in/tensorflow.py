"""Stands where packages import tensorflow at their top and use it for its checkpoints alone."""
