"""Every test begins with the settings as they ship."""

import os
import signal

# Shells start jobs in the background with Ctrl-C ignored, and programs that tests start inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("KERAS_BACKEND", None)
os.environ["KERAS_HOME"] = os.path.join(os.path.dirname(__file__), "no-such-folder")
os.environ.setdefault("HORNGATE_NO_CONFIG_WRITE", "1")
os.environ.setdefault("HORNGATE_QUIET", "1")

import horngate as K
import pytest


@pytest.fixture(autouse=True)
def fresh_session():
    K.set_floatx("float32")
    K.set_epsilon(1e-7)
    K.set_image_data_format("channels_last")
    K.clear_session()
    yield
    K.clear_session()
