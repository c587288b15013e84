"""What the examples share: the options, the digits that ship with the repository, a PNG writer."""

import argparse
import os
import struct
import sys
import zlib

import numpy as np

os.environ.setdefault("KERAS_BACKEND", "horngate")  # before the first import of Keras

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = os.path.join(HERE, os.pardir, "data", "digits.txt")


def options(doc):
    """The command line: --small runs the example on less data, in seconds."""
    parser = argparse.ArgumentParser(description=doc.strip().splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a short run, as the tests do it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=".", help="folder for the files that an example writes")
    parsed = parser.parse_args()
    np.random.seed(parsed.seed)  # Keras draws its initial weights and its shuffling from here
    parsed.verbose = 0 if parsed.small or not sys.stdout.isatty() else 1
    return parsed


def load_digits(test=360):
    """(x_train, y_train), (x_test, y_test): 8 x 8 handwritten digits in 0 .. 1, labels 0 .. 9."""
    with open(DIGITS) as f:
        lines = [line.split() for line in f]
    images = np.array([[int(c, 17) for c in pixels] for _, pixels in lines], dtype="float32")
    images = images.reshape(-1, 8, 8, 1) / 16
    labels = np.array([int(label) for label, _ in lines])
    # The last ones are by other writers than the first ones, so this is an honest test.
    return (images[:-test], labels[:-test]), (images[-test:], labels[-test:])


def write_png(path, image):
    """Writes a grey image, a 2D array of values in 0 .. 1."""
    pixels = (np.clip(image, 0, 1) * 255).astype("uint8")
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, content):
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        f.write(chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def show(image, threshold=(0.2, 0.5, 0.8)):
    """Prints a small grey image as characters."""
    for row in image:
        print("    " + "".join(" .o#"[sum(v > t for t in threshold)] * 2 for v in row))
