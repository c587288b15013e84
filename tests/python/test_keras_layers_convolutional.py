"""Convolutions, upsampling, padding and cropping of the C++ library against Keras: random configurations."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from draws_spatial import Draw, case, check_spelled, only, spelled, spread, window  # noqa: E402
from keras import layers  # noqa: E402

RANDOM = int(os.environ.get("HORNGATE_KERAS_RANDOM", "60"))  # of each class


def convolution(draw, name, rank, kinds, paddings=("valid", "same"), dilated=True):
    options = {**draw.weights_options(kinds), **draw.common()}
    kernel = draw.sizes(rank, 1, 3)
    format = draw.data_format()
    options["padding"] = draw.pick(*paddings)
    if options["padding"] == "causal":
        format = "channels_last"
    options["data_format"] = format
    if draw.chance():
        options["strides"] = draw.sizes(rank, 1, 3)
    elif dilated and draw.chance():
        options["dilation_rate"] = draw.sizes(rank, 1, 2)
    if "depthwise" in kinds:
        options["depth_multiplier"] = draw.size(1, 3)
    least = [
        window(k, d)
        for k, d in zip(spread(kernel, rank), spread(options.get("dilation_rate", 1), rank))
    ]
    spatial = [n + draw.size(0, 4) for n in least]
    x, numbers = draw.input(spatial, draw.size(1, 3), format, dtype=options["dtype"])
    cls = getattr(layers, name)
    if name == "DepthwiseConv2D":
        return case(draw, cls(kernel, **options), x, numbers)
    return case(draw, cls(draw.size(1, 4), kernel, **options), x, numbers)


@pytest.mark.parametrize(
    "name, rank, kinds",
    [
        ("Conv1D", 1, ["kernel"]),
        ("Conv2D", 2, ["kernel"]),
        ("Conv3D", 3, ["kernel"]),
        ("SeparableConv1D", 1, ["depthwise", "pointwise"]),
        ("SeparableConv2D", 2, ["depthwise", "pointwise"]),
        ("DepthwiseConv2D", 2, ["depthwise"]),
    ],
)
def test_convolutions(name, rank, kinds):
    paddings = ("valid", "same", "causal") if name == "Conv1D" else ("valid", "same")
    keras_cases.check(
        [convolution(Draw(name, seed), name, rank, kinds, paddings) for seed in range(RANDOM)]
    )


def transposed(draw, name, rank):
    options = {**draw.weights_options(["kernel"]), **draw.common()}
    kernel = draw.sizes(rank, 1, 3)
    options["padding"] = draw.pick("valid", "same")
    options["data_format"] = draw.data_format()
    strides = draw.sizes(rank, 1, 3)
    if draw.chance(0.7):
        options["strides"] = strides
        # Only lengths that the convolution takes back to the input's: Keras refuses the others.
        pairs = list(zip(spread(strides, rank), spread(kernel, rank)))
        even = [options["padding"] == "same" and k % 2 == 0 for s, k in pairs]
        if draw.chance() and not any(e and s == 1 for e, (s, k) in zip(even, pairs)):
            options["output_padding"] = tuple(
                draw.size(int(e), s - 1) for e, (s, k) in zip(even, pairs)
            )
    elif rank == 2 and draw.chance():
        options["dilation_rate"] = draw.sizes(rank, 1, 2)
    x, numbers = draw.input(
        [draw.size(2, 4) for _ in range(rank)],
        draw.size(1, 3),
        options["data_format"],
        dtype=options["dtype"],
    )
    return case(draw, getattr(layers, name)(draw.size(1, 3), kernel, **options), x, numbers)


@pytest.mark.parametrize("name, rank", [("Conv2DTranspose", 2), ("Conv3DTranspose", 3)])
def test_transposed_convolutions(name, rank):
    keras_cases.check([transposed(Draw(name, seed), name, rank) for seed in range(RANDOM)])


def upsampling(draw, rank):
    options = {"size": draw.size(1, 3) if rank == 1 else draw.sizes(rank, 1, 3), **draw.common()}
    if rank > 1:
        options["data_format"] = draw.data_format()
    if rank == 2:
        options["interpolation"] = draw.pick("nearest", "bilinear")
    unknown = 0 if rank == 1 else 0.3  # repeat_elements asks for a known size
    x, numbers = draw.input(
        [draw.size(1, 4) for _ in range(rank)],
        draw.size(1, 3),
        options.get("data_format", "channels_last"),
        unknown,
        options["dtype"],
    )
    return case(draw, getattr(layers, f"UpSampling{rank}D")(**options), x, numbers)


def borders(draw, rank, high):
    """A number, a number for each axis, or one for each side."""
    if rank == 1:
        return draw.sizes(2, 0, high)
    if draw.chance(0.3):
        return draw.sizes(rank, 0, high)
    return tuple((draw.size(0, high), draw.size(0, high)) for _ in range(rank))


def padded(draw, family, option, rank):
    options = draw.common()
    if draw.chance(0.9):
        options[option] = borders(draw, rank, 2)
    if rank > 1 and draw.chance(0.8):
        options["data_format"] = draw.data_format()
    spatial = [draw.size(5, 7) if option == "cropping" else draw.size(1, 4) for _ in range(rank)]
    format = options.get("data_format", "channels_last")
    x, numbers = draw.input(spatial, draw.size(1, 3), format, dtype=options["dtype"])
    return case(draw, getattr(layers, f"{family}{rank}D")(**options), x, numbers)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_upsampling(rank):
    keras_cases.check([upsampling(Draw("UpSampling", rank, seed), rank) for seed in range(RANDOM)])


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("family, option", [("ZeroPadding", "padding"), ("Cropping", "cropping")])
def test_borders(family, option, rank):
    keras_cases.check(
        [padded(Draw(family, rank, seed), family, option, rank) for seed in range(RANDOM)]
    )


SHAPES = {1: (5, 2), 2: (5, 6, 4), 3: (5, 4, 6, 2)}
CONVOLUTIONS = {
    "Conv1D": 1,
    "Conv2D": 2,
    "Conv3D": 3,
    "Conv2DTranspose": 2,
    "Conv3DTranspose": 3,
    "SeparableConv1D": 1,
    "SeparableConv2D": 2,
}
BORDERS = ["UpSampling", "ZeroPadding", "Cropping"]


def test_defaults_are_those_of_keras():
    pairs = [
        spelled(getattr(layers, name)(3, 2), SHAPES[rank], only("filters", "kernel_size"))
        for name, rank in CONVOLUTIONS.items()
    ]
    pairs.append(spelled(layers.DepthwiseConv2D(2), SHAPES[2], only("kernel_size")))
    pairs += [
        spelled(getattr(layers, f"{b}{n}D")(), SHAPES[n], only()) for b in BORDERS for n in SHAPES
    ]
    check_spelled(pairs)


def test_other_names_and_numbers_for_tuples():
    names = {
        "Conv1D": ["Convolution1D"],
        "Conv2D": ["Convolution2D"],
        "Conv3D": ["Convolution3D"],
        "Conv2DTranspose": ["Convolution2DTranspose", "Deconvolution2D", "Deconv2D"],
        "Conv3DTranspose": ["Deconvolution3D", "Deconv3D"],
        "SeparableConv1D": ["SeparableConvolution1D"],
        "SeparableConv2D": ["SeparableConvolution2D"],
    }

    def other(config):
        # One number for all axes; tf.keras writes groups.
        return {**config, "kernel_size": 2, "strides": 1, "groups": 1}

    check_spelled(
        [
            spelled(
                getattr(layers, name)(3, 2, padding="same"),
                SHAPES[CONVOLUTIONS[name]],
                other,
                alias,
            )
            for name, aliases in names.items()
            for alias in aliases
        ]
        + [
            spelled(
                layers.ZeroPadding2D(((1, 1), (2, 2))),
                SHAPES[2],
                lambda c: {**c, "padding": [1, 2]},
            )
        ]
        + [spelled(layers.ZeroPadding3D(2), SHAPES[3], lambda c: {**c, "padding": 2})]
        + [
            spelled(
                layers.Cropping2D(((1, 1), (0, 2))),
                SHAPES[2],
                lambda c: {**c, "cropping": [1, [0, 2]]},
            )
        ]
    )


# As Keras 1.2 wrote them.
OLD = {
    "init": "he_normal",
    "activation": "relu",
    "border_mode": "same",
    "W_regularizer": None,
    "b_regularizer": None,
    "activity_regularizer": None,
    "W_constraint": None,
    "b_constraint": None,
    "bias": False,
}
OLD_SERIES = {"nb_filter": 3, "filter_length": 2, "subsample_length": 1, **OLD}
OLD_IMAGES = {
    "nb_filter": 3,
    "nb_row": 2,
    "nb_col": 3,
    "subsample": [1, 1],
    "dim_ordering": "tf",
    **OLD,
}
OLD_LAYERS = [
    ("Convolution1D", 1, OLD_SERIES),
    ("AtrousConvolution1D", 1, {**OLD_SERIES, "atrous_rate": 2}),
    ("Convolution2D", 2, OLD_IMAGES),
    ("Convolution2D", 2, {**OLD_IMAGES, "dim_ordering": "th", "border_mode": "valid"}),
    ("AtrousConvolution2D", 2, {**OLD_IMAGES, "atrous_rate": [2, 1]}),
    (
        "Deconvolution2D",
        2,
        {**OLD_IMAGES, "output_shape": [None, 5, 6, 3], "dim_ordering": "default"},
    ),
    (
        "SeparableConvolution2D",
        2,
        {
            **{k: v for k, v in OLD_IMAGES.items() if k[:2] != "W_"},
            "depth_multiplier": 2,
            "pointwise_regularizer": None,
        },
    ),
    (
        "Convolution3D",
        3,
        {
            "nb_filter": 3,
            "kernel_dim1": 1,
            "kernel_dim2": 2,
            "kernel_dim3": 3,
            "subsample": [1, 2, 1],
            **OLD,
        },
    ),
    ("UpSampling1D", 1, {"length": 3}),
    ("UpSampling2D", 2, {"size": [2, 3], "dim_ordering": "th"}),
    ("ZeroPadding2D", 2, {"padding": [1, 2], "dim_ordering": "th"}),
    ("Cropping3D", 3, {"cropping": [[1, 1], [0, 1], [1, 0]], "dim_ordering": "tf"}),
    ("MaxPooling1D", 1, {"pool_length": 3, "stride": 2, "border_mode": "same"}),
    (
        "AveragePooling2D",
        2,
        {"pool_size": [2, 3], "strides": [1, 1], "border_mode": "valid", "dim_ordering": "th"},
    ),
    ("GlobalMaxPooling2D", 2, {"dim_ordering": "th"}),
    ("LocallyConnected1D", 1, {**OLD_SERIES, "border_mode": "valid"}),
    ("LocallyConnected2D", 2, {**OLD_IMAGES, "border_mode": "valid"}),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_configurations_of_keras_1():
    pairs = []
    for name, rank, config in OLD_LAYERS:
        old = {"name": "old", "trainable": True, "input_dtype": "float32", **config}
        known = name.replace("SeparableConvolution", "SeparableConv")  # Keras forgot this one
        layer = layers.deserialize({"class_name": known, "config": {"name": "old", **config}})
        pairs.append(spelled(layer, SHAPES[rank], lambda _, old=old: old, name))
    check_spelled(pairs)
