"""Event files of TensorBoard: records of protocol buffers, each with its length and two sums."""

import os
import socket
import struct
import threading
import time

import numpy as np


def _crc_table():
    numbers = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        numbers = (numbers >> 1) ^ np.where(numbers & 1, np.uint32(0x82F63B78), np.uint32(0))
    return numbers.tolist()


_TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _masked(data):
    """The sum in the form in which records keep it, so that sums of sums differ from them."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _varint(value):
    value &= 0xFFFFFFFFFFFFFFFF
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


# Fields of protocol buffers: number and kind, then the value.
def _double(number, value):
    return _varint(number << 3 | 1) + struct.pack("<d", value)


def _float(number, value):
    return _varint(number << 3 | 5) + np.float32(value).tobytes()


def _int(number, value):
    return _varint(number << 3) + _varint(int(value))


def _bytes(number, value):
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _doubles(number, values):
    return _bytes(number, np.asarray(values, "<f8").tobytes())


def _limits():
    """Upper ends of the buckets: each a tenth above the one before, for both signs."""
    positive = 1e-12 * 1.1 ** np.arange(773)
    positive = np.append(positive[positive < 1e20], np.finfo("float64").max)
    return np.concatenate([-positive[::-1], [0.0], positive])


class Histogram:
    """Values counted in buckets."""

    limits = _limits()

    def __init__(self, tag):
        self.tag = tag
        self._counts = np.zeros(len(self.limits), "int64")
        self._min, self._max, self._sum, self._squares = np.inf, -np.inf, 0.0, 0.0

    def add(self, values):
        values = np.asarray(values, "float64").ravel()
        if not np.isfinite(values).all():
            raise ValueError(f'TensorBoard: "{self.tag}" must be finite; it has NaN or infinity.')
        if values.size == 0:
            return
        found = np.searchsorted(self.limits, values, side="right")
        found = np.minimum(found, len(self.limits) - 1)
        self._counts += np.bincount(found, minlength=len(self.limits))
        self._min, self._max = min(self._min, values.min()), max(self._max, values.max())
        with np.errstate(over="ignore"):
            self._sum += values.sum()
            self._squares += np.square(values).sum()

    def value(self):
        """The field of a summary. Of empty buckets that follow each other the last is kept."""
        is_empty = self._counts == 0
        kept = ~is_empty | ~np.append(is_empty[1:], True)
        whole = _double(1, self._min) + _double(2, self._max) + _double(3, self._counts.sum())
        whole += _double(4, self._sum) + _double(5, self._squares)
        whole += _doubles(6, self.limits[kept]) + _doubles(7, self._counts[kept])
        return _bytes(1, _bytes(1, self.tag) + _bytes(5, whole))


def scalar(tag, value):
    """The field of a summary."""
    return _bytes(1, _bytes(1, tag) + _float(2, value))


def keras_graph(text):
    """The field of a summary with a model's configuration, of which TensorBoard draws a graph."""
    metadata = _bytes(1, _bytes(1, "graph_keras_model"))
    tensor = _int(1, 7) + _bytes(2, b"") + _bytes(8, text)  # 7: strings
    return _bytes(1, _bytes(1, "keras") + _bytes(8, tensor) + _bytes(9, metadata))


class Writer:
    """A new event file in a folder."""

    _made = 0
    _lock = threading.Lock()

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        with Writer._lock:
            Writer._made += 1
            number = Writer._made
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}"
        self._file = open(os.path.join(folder, f"{name}.{os.getpid()}.{number}"), "xb")
        self._write(_bytes(3, "brain.Event:2"))

    def _write(self, fields):
        self._file.write(record(_double(1, time.time()) + fields))

    def add_summary(self, summary, global_step=None):
        """Takes the bytes of a Summary, or a message that can give them."""
        if not isinstance(summary, bytes):
            summary = summary.SerializeToString()
        step = b"" if global_step is None else _int(2, global_step)
        self._write(step + _bytes(5, summary))

    def flush(self):
        self._file.flush()

    def close(self):
        self._file.close()
