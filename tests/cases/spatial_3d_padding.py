"""spatial_3d_padding: zeros around the spatial axes."""

import horngate as K
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import rand

for data_format in ("channels_last", "channels_first"):
    for padding in [((1, 1), (1, 1), (1, 1)), ((2, 0), (0, 3), (1, 1)), ((0, 0), (1, 2), (0, 1))]:
        case(
            K.spatial_3d_padding,
            [rand(2, 2, 3, 2, 3)],
            padding=padding,
            data_format=data_format,
            oracle=oracles.spatial_3d_padding,
            tol=0,
            second=padding[0] == (1, 1),
        )
case(K.spatial_3d_padding, [rand(2, 2, 3, 2, 3)], oracle=oracles.spatial_3d_padding)
case(
    K.spatial_3d_padding,
    [rand(2, 2, 3, 2, 3).known(1, 4)],
    oracle=oracles.spatial_3d_padding,
    none=(None, 4, None, None, 3),
)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(
        K.spatial_3d_padding,
        [rand(2, 2, 3, 2, 3)],
        oracle=oracles.spatial_3d_padding,
        dtypes=(dtype,),
        tol=0,
    )
error(
    K.spatial_3d_padding,
    [rand(2, 4, 3)],
    text="spatial_3d_padding: x must have 5 dimensions; got shape (2, 4, 3).",
)
error(
    K.spatial_3d_padding,
    [rand(2, 2, 3, 2, 3)],
    data_format="channels_middle",
    text='spatial_3d_padding: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)


@check
def the_default_is_image_data_format():
    K.set_image_data_format("channels_first")
    x = K.placeholder((2, 2, 3, 2, 3))
    assert K.int_shape(K.spatial_3d_padding(x))[:2] == (2, 2, 3, 2, 3)[:2]


families.edges(
    K.spatial_3d_padding,
    oracles.spatial_3d_padding,
    [rand(0, 3, 4, 2, 1)],
    [rand(1, 1, 1, 1, 1)],
    [rand(2, 2, 0, 4, 1)],
    [rand(2, 7, 31, 37, 1)],
    padding=((1, 0), (2, 3), (0, 1)),
    tol=0,
)
