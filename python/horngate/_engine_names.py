"""The engines that users can choose. Made by `make generate` from src/engines/engines.def; do not edit."""

ENGINES = ("native", "tensorflow", "theano", "cntk", "onnx")
