"""What is known about the engines that cases run on: data, so that a skip says why."""

import fnmatch
import os
import zlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Engine:
    """`lacks` maps patterns of item names to reasons; `tolerance` multiplies that of the cases;
    `absolute` maps patterns of "label-dtype" to errors that pass however small the result is."""

    name: str
    computes: bool = True
    tolerance: float = 1.0
    lacks: dict = field(default_factory=dict)
    absolute: dict = field(default_factory=dict)

    def reason_to_skip(self, item_name):
        for pattern, reason in self.lacks.items():
            if fnmatch.fnmatchcase(item_name, pattern):
                return reason
        return None

    def absolute_error(self, label, dtype):
        name = f"{label}-{dtype}"
        return max((e for p, e in self.absolute.items() if fnmatch.fnmatchcase(name, p)), default=0)


# Without fusion native rounds halves after every primitive, as the plug-in engines do.
_PLAIN = "fusion" in os.environ.get("HORNGATE_WITHOUT", "").split(",")

ENGINES = {
    "native": Engine("native", tolerance=1.5 if _PLAIN else 1.0),
    "null": Engine("null", computes=False),
    # Its functions round a little more, and halves are rounded after every operator.
    "onnx": Engine(
        "onnx",
        tolerance=1.5,
        absolute={
            "tanh(special values)-float32": 1e-38,  # numbers below the normal ones
            "sigmoid(special values)-float*": 1e-38,
        },
    ),
    # Its quotient is a product with the reciprocal: a little less exact than the others.
    "cntk": Engine(
        "cntk",
        tolerance=1.5,
        lacks={
            "integers_wrap_around-check-*64*": "integers ride in float64: beyond 2^53 is an error",
            "only_taps_meet_infinities-check*": "dilated kernels have zeros between their taps",
            "truediv(by -0)-*": "no operator of CNTK sees the sign of a zero",
            "pow(-0)-*": "no operator of CNTK sees the sign of a zero",
            "of_float_tensors_in_their_dtypes-check-*": "divides by the reciprocal, so that a count "
            "next to a whole number may be another",
        },
    ),
    "tensorflow": Engine(
        "tensorflow",
        tolerance=1.5,
        lacks={
            "statistics_of_many_equal_numbers-check-(20000, 3)-True*": "along one axis of open size it "
            "adds row after row, and loses digits",
        },
    ),
}


def find(name):
    return ENGINES.get(name, Engine(name))


def wanted():
    """The engines of HORNGATE_TEST_ENGINES, separated by commas; native when it is not set."""
    names = os.environ.get("HORNGATE_TEST_ENGINES", "native").split(",")
    return [find(name.strip()) for name in names if name.strip()]


# Its functions are those of NumPy, and halves are rounded after every primitive.
ENGINES["theano"] = Engine(
    "theano",
    tolerance=1.5,
    lacks={
        "integers_wrap_around-check-uint64-*": "the worker's numbers are C longs: beyond is an error",
        "shape_arithmetic_has_dtypes-check-*": "the worker's numbers are C longs: beyond is an error",
    },
)

# Engines that are too slow for every case in each run: one of so many, the same ones each time.
SAMPLES = {"theano": 12}


def one_of(engine):
    """A run takes one of so many items. HORNGATE_TEST_SAMPLE=n: at most one of n of every engine but
    native; HORNGATE_TEST_ALL=1: all of all."""
    if engine.name == "native" or os.environ.get("HORNGATE_TEST_ALL"):
        return 1
    return max(SAMPLES.get(engine.name, 1), int(os.environ.get("HORNGATE_TEST_SAMPLE") or 1))


def is_in_sample(engine, item_name):
    return zlib.crc32(item_name.encode()) % one_of(engine) == 0
