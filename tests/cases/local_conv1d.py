"""local_conv1d: another kernel at each position."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for steps, channels, size, stride in [(7, 3, 3, 1), (8, 2, 2, 2), (5, 1, 1, 1), (4, 2, 4, 1)]:
    windows = (steps - size) // stride + 1
    case(
        K.local_conv1d,
        [rand(2, steps, channels), rand(windows, size * channels, 4).known()],
        kernel_size=(size,),
        strides=(stride,),
        oracle=oracles.local_conv,
        second=True,
    )
ONE = {"kernel_size": (3,), "strides": (1,), "oracle": oracles.local_conv}
case(K.local_conv1d, [rand(2, 7, 3), rand(5, 9, 4).known()], **ONE, data_format="channels_last")
case(K.local_conv1d, [rand(0, 7, 3), rand(5, 9, 4).known()], **ONE)
case(
    K.local_conv1d,
    [rand(2, 7, 3), rand(5, 9, 4).known()],
    **ONE,
    dtypes=("float16", "bfloat16"),
    tol=0.02,
)
case(K.local_conv1d, [rand(2, 7, 3).known(1, 2), rand(5, 9, 4).known()], **ONE, none=(None, 5, 4))
error(
    K.local_conv1d,
    [rand(2, 7, 3), rand(5, 8, 4)],
    kernel_size=(3,),
    strides=(1,),
    text="local_conv1d: kernel must have 9 features, the size of a window times the channels; got shape (5, 8, 4).",
)
error(
    K.local_conv1d,
    [rand(2, 7, 3), rand(6, 9, 4)],
    kernel_size=(3,),
    strides=(1,),
    text="local_conv1d: the last of 6 windows ends at 8, beyond axis 1 of inputs of shape (2, 7, 3).",
)
error(
    K.local_conv1d,
    [rand(2, 7, 3), rand(5, 9, 4)],
    kernel_size=(3,),
    strides=(1,),
    data_format="channels_middle",
    text='local_conv1d: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)
case(K.local_conv1d, [rand(2, 7, 3), rand(5, 9, 4).known()], **ONE, data_format="channels_first")
families.edges(
    K.local_conv1d,
    oracles.local_conv,
    [rand(3, 211, 17), rand(209, 51, 2)],
    kernel_size=(3,),
    strides=(1,),
    tol={"float32": 1e-5},
)
