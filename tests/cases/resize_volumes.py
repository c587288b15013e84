"""resize_volumes: volumes enlarged by whole factors."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for data_format in ("channels_last", "channels_first"):
    for factors in [(2, 3, 1), (1, 1, 2), (2, 2, 2)]:
        case(
            K.resize_volumes,
            [rand(2, 2, 3, 2, 2)],
            depth_factor=factors[0],
            height_factor=factors[1],
            width_factor=factors[2],
            data_format=data_format,
            oracle=oracles.resize_volumes,
            tol=0,
            second=factors == (2, 2, 2),
        )
TWICE = {"depth_factor": 2, "height_factor": 2, "width_factor": 2, "data_format": "channels_last"}
case(K.resize_volumes, [rand(0, 1, 3, 4, 2)], **TWICE, oracle=oracles.resize_volumes)
case(
    K.resize_volumes,
    [rand(2, 3, 4, 2, 2).known(1, 2, 3, 4)],
    **TWICE,
    oracle=oracles.resize_volumes,
    none=(None, 6, 8, 4, 2),
)
error(
    K.resize_volumes,
    [rand(2, 3, 4, 2, 1)],
    depth_factor=2,
    height_factor=2,
    width_factor=2,
    data_format="channels_middle",
    text='resize_volumes: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)
error(
    K.resize_volumes,
    [rand(2, 3)],
    **TWICE,
    text="resize_volumes: x must have 5 dimensions; got shape (2, 3).",
)
families.edges(
    K.resize_volumes,
    oracles.resize_volumes,
    [rand(1, 1, 1, 1, 1)],
    [rand(1, 11, 13, 17, 5)],
    **TWICE,
    tol=0,
)
