"""resize_images: images enlarged by whole factors."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import rand

for data_format in ("channels_last", "channels_first"):
    for interpolation in ("nearest", "bilinear"):
        for rows, cols in [(2, 3), (1, 2), (3, 1), (1, 1)]:
            case(
                K.resize_images,
                [rand(2, 3, 4, 2)],
                height_factor=rows,
                width_factor=cols,
                data_format=data_format,
                interpolation=interpolation,
                oracle=oracles.resize_images,
                second=(rows, cols) == (2, 3),
            )
        case(
            K.resize_images,
            [rand(1, 1, 1, 1)],
            height_factor=4,
            width_factor=5,
            data_format=data_format,
            interpolation=interpolation,
            oracle=oracles.resize_images,
        )
TWICE = {"height_factor": 2, "width_factor": 2, "data_format": "channels_last"}
case(K.resize_images, [rand(0, 3, 4, 2)], **TWICE, oracle=oracles.resize_images)
case(K.resize_images, [rand(2, 17, 13, 5)], **TWICE, oracle=oracles.resize_images, grad=False)
case(
    K.resize_images,
    [rand(2, 3, 4, 2).known(1, 2, 3)],
    **TWICE,
    oracle=oracles.resize_images,
    none=(None, 6, 8, 2),
)
case(
    K.resize_images,
    [rand(2, 3, 4, 2)],
    **TWICE,
    oracle=oracles.resize_images,
    dtypes=("float16", "bfloat16", "uint8"),
)
error(
    K.resize_images,
    [rand(2, 3, 4, 2)],
    height_factor=2,
    width_factor=2,
    data_format="channels_middle",
    text='resize_images: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)
error(
    K.resize_images,
    [rand(2, 3, 4, 2)],
    **TWICE,
    interpolation="cubic",
    text='resize_images: interpolation must be "nearest" or "bilinear"; got "cubic".',
)
error(
    K.resize_images,
    [rand(2, 3, 4, 2)],
    height_factor=0,
    width_factor=2,
    data_format="channels_last",
    text="resize_images: height_factor must be at least 1; got 0.",
)
error(
    K.resize_images,
    [rand(2, 3, 4)],
    **TWICE,
    text="resize_images: x must have 4 dimensions; got shape (2, 3, 4).",
)
families.edges(K.resize_images, oracles.resize_images, [rand(1, 37, 41, 7)], **TWICE, tol=0)


@check(dtype=("float16", "bfloat16"))
def halves_between_far_neighbours(dtype):
    """Their difference is beyond float16; each result is rounded once."""
    x = K.cast(K.constant(np.array([40000.0, -40000.0, 1.0, 0.1]).reshape(1, 1, 4, 1)), dtype)
    options = {**TWICE, "data_format": "channels_last", "interpolation": "bilinear"}
    got = K.eval(K.cast(K.resize_images(x, **options), "float32"))
    wide = K.resize_images(K.cast(x, "float32"), **options)
    np.testing.assert_array_equal(got, K.eval(K.cast(K.cast(wide, dtype), "float32")))
    assert np.isfinite(got).all()
