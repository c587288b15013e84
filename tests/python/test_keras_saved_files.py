"""Files that tf_keras 2.21 and Keras 1.2.2, 2.0.9, 2.1.6 and 2.2.4 saved, loaded and trained further by the C++ library.

tests/oracle/files.py, keras_1_files.py and keras_2_files.py made them, with what their makers computed; files.py says what
differs and why.
"""

import sys
import zipfile
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "oracle"))
import files  # noqa: E402

ARCHIVE = TESTS / "models" / "saved.zip"
NAMES = sorted(
    n.removesuffix(".h5") for n in zipfile.ZipFile(ARCHIVE).namelist() if n.endswith(".h5")
)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_another_edition(name, tmp_path):
    with zipfile.ZipFile(ARCHIVE) as archive:
        for suffix in ("h5", "json"):
            archive.extract(f"{name}.{suffix}", tmp_path)
    edition, _, net = name.partition("/")
    values = files.continued(tmp_path / edition, net)
    assert not files.differs(edition, net, values), values
