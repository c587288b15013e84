"""Types of the functions of the backend. Made by `make generate` from the definitions; do not edit."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar, overload

from horngate.typing import (
    Array,
    ArrayLike,
    DataFormat,
    DimOrdering,
    DType,
    Expression,
    Function,
    Interpolation,
    Ints,
    Padding,
    Padding1D,
    PoolMode,
    Shape,
    SparseMatrix,
    StepFunction,
    Tensor,
    TensorLike,
    Variable,
)

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "abs",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "asymmetric_temporal_padding",
    "backend",
    "batch_dot",
    "batch_flatten",
    "batch_get_value",
    "batch_normalization",
    "batch_set_value",
    "bias_add",
    "binary_crossentropy",
    "cast",
    "cast_to_floatx",
    "categorical_crossentropy",
    "clear_session",
    "clip",
    "concatenate",
    "constant",
    "control_dependencies",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "cos",
    "count_params",
    "ctc_batch_cost",
    "ctc_decode",
    "ctc_label_dense_to_sparse",
    "cumprod",
    "cumsum",
    "deconv2d",
    "depthwise_conv2d",
    "dot",
    "dropout",
    "dtype",
    "eager",
    "elu",
    "epsilon",
    "equal",
    "eval",
    "exp",
    "expand_dims",
    "eye",
    "flatten",
    "floatx",
    "foldl",
    "foldr",
    "function",
    "gather",
    "get_uid",
    "get_value",
    "get_variable_shape",
    "gradients",
    "greater",
    "greater_equal",
    "hard_sigmoid",
    "identity",
    "image_data_format",
    "image_dim_ordering",
    "in_test_phase",
    "in_top_k",
    "in_train_phase",
    "int_shape",
    "is_keras_tensor",
    "is_placeholder",
    "is_sparse",
    "is_tensor",
    "is_variable",
    "l2_normalize",
    "learning_phase",
    "less",
    "less_equal",
    "lesser",
    "lesser_equal",
    "local_conv1d",
    "local_conv2d",
    "log",
    "logsumexp",
    "manual_variable_initialization",
    "map_fn",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "moving_average_update",
    "name_scope",
    "ndim",
    "normalize_batch",
    "normalize_batch_in_training",
    "normalize_data_format",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "permute_dimensions",
    "placeholder",
    "pool2d",
    "pool3d",
    "pow",
    "print_tensor",
    "prod",
    "random_binomial",
    "random_normal",
    "random_normal_variable",
    "random_uniform",
    "random_uniform_variable",
    "relu",
    "repeat",
    "repeat_elements",
    "reset_uids",
    "reshape",
    "resize_images",
    "resize_volumes",
    "reverse",
    "rnn",
    "round",
    "separable_conv1d",
    "separable_conv2d",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_image_dim_ordering",
    "set_learning_phase",
    "set_value",
    "shape",
    "sigmoid",
    "sign",
    "sin",
    "size",
    "slice",
    "softmax",
    "softplus",
    "softsign",
    "sparse_categorical_crossentropy",
    "spatial_2d_padding",
    "spatial_3d_padding",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stop_gradient",
    "sum",
    "switch",
    "symbolic",
    "tanh",
    "temporal_padding",
    "tile",
    "to_dense",
    "transpose",
    "truncated_normal",
    "update",
    "update_add",
    "update_sub",
    "var",
    "variable",
    "zeros",
    "zeros_like",
]

def abs(x: TensorLike) -> Tensor: ...
def all(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
def any(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
def arange(
    start: TensorLike, stop: TensorLike | None = None, step: TensorLike = 1, dtype: DType = "int32"
) -> Tensor: ...
def argmax(x: TensorLike, axis: int = -1) -> Tensor: ...
def argmin(x: TensorLike, axis: int = -1) -> Tensor: ...
def asymmetric_temporal_padding(x: TensorLike, left_pad: int = 1, right_pad: int = 1) -> Tensor: ...
def backend() -> str: ...
def batch_dot(x: TensorLike, y: TensorLike, axes: int | Sequence[int] | None = None) -> Tensor: ...
def batch_flatten(x: TensorLike) -> Tensor: ...
def batch_get_value(ops: Sequence[Variable]) -> list[Array]: ...
def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    axis: int = -1,
    epsilon: float = 0.001,
) -> Tensor: ...
def batch_set_value(tuples: Iterable[tuple[Variable, TensorLike]]) -> None: ...
def bias_add(x: TensorLike, bias: TensorLike, data_format: DataFormat | None = None) -> Tensor: ...
def binary_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False
) -> Tensor: ...
def cast(x: TensorLike, dtype: DType) -> Tensor: ...
def cast_to_floatx(x: ArrayLike) -> Array: ...
def categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor: ...
def clear_session() -> None: ...
def clip(x: TensorLike, min_value: TensorLike | None, max_value: TensorLike | None) -> Tensor: ...
def concatenate(tensors: Sequence[TensorLike], axis: int = -1) -> Tensor: ...
def constant(
    value: TensorLike,
    dtype: DType | None = None,
    shape: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor: ...
def control_dependencies(control_inputs: Sequence[Tensor]) -> AbstractContextManager[None]: ...
def conv1d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Ints = 1,
    padding: Padding1D = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = 1,
) -> Tensor: ...
def conv2d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1),
) -> Tensor: ...
def conv2d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Shape,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1),
) -> Tensor: ...
def conv3d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Ints = (1, 1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1, 1),
) -> Tensor: ...
def conv3d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Shape,
    strides: Ints = (1, 1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
) -> Tensor: ...
def cos(x: TensorLike) -> Tensor: ...
def count_params(x: TensorLike) -> int: ...
def ctc_batch_cost(
    y_true: TensorLike, y_pred: TensorLike, input_length: TensorLike, label_length: TensorLike
) -> Tensor: ...
def ctc_decode(
    y_pred: TensorLike,
    input_length: TensorLike,
    greedy: bool = True,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = False,
) -> tuple[list[Tensor], Tensor]: ...
def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths: TensorLike) -> Tensor: ...
def cumprod(x: TensorLike, axis: int = 0) -> Tensor: ...
def cumsum(x: TensorLike, axis: int = 0) -> Tensor: ...
def deconv2d(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Shape,
    strides: Ints = (1, 1),
    border_mode: Padding = "valid",
    dim_ordering: DimOrdering = "th",
    image_shape: Any = None,
    filter_shape: Any = None,
) -> Tensor: ...
def depthwise_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1),
) -> Tensor: ...
def dot(x: TensorLike, y: TensorLike) -> Tensor: ...
def dropout(
    x: TensorLike, level: float, noise_shape: Shape | None = None, seed: int | None = None
) -> Tensor: ...
def dtype(x: TensorLike) -> str: ...
def eager(func: F) -> F: ...
def elu(x: TensorLike, alpha: float = 1.0) -> Tensor: ...
def epsilon() -> float: ...
def equal(x: TensorLike, y: TensorLike) -> Tensor: ...
def eval(x: Tensor) -> Array: ...
def exp(x: TensorLike) -> Tensor: ...
def expand_dims(x: TensorLike, axis: int = -1) -> Tensor: ...
def eye(
    size: int | tuple[int, int], dtype: DType | None = None, name: str | None = None
) -> Variable: ...
def flatten(x: TensorLike) -> Tensor: ...
def floatx() -> str: ...
def foldl(
    fn: Callable[[Tensor, Tensor], Tensor],
    elems: TensorLike,
    initializer: TensorLike | None = None,
    name: str | None = None,
) -> Tensor: ...
def foldr(
    fn: Callable[[Tensor, Tensor], Tensor],
    elems: TensorLike,
    initializer: TensorLike | None = None,
    name: str | None = None,
) -> Tensor: ...
def function(
    inputs: Tensor | Sequence[Tensor | None],
    outputs: Tensor | Sequence[Tensor],
    updates: Sequence[Tensor | tuple[Variable, TensorLike]] | None = None,
    **kwargs: Any,
) -> Function: ...
def gather(reference: TensorLike, indices: TensorLike) -> Tensor: ...
def get_uid(prefix: str = "") -> int: ...
def get_value(x: Variable) -> Array: ...
def get_variable_shape(x: TensorLike) -> tuple[int | None, ...]: ...
def gradients(
    loss: Tensor, variables: Tensor | Sequence[Tensor], strict: bool = False
) -> list[Tensor | None]: ...
def greater(x: TensorLike, y: TensorLike) -> Tensor: ...
def greater_equal(x: TensorLike, y: TensorLike) -> Tensor: ...
def hard_sigmoid(x: TensorLike) -> Tensor: ...
def identity(x: TensorLike, name: str | None = None) -> Tensor: ...
def image_data_format() -> str: ...
def image_dim_ordering() -> str: ...
def in_test_phase(x: Expression, alt: Expression, training: TensorLike | None = None) -> Tensor: ...
def in_top_k(predictions: TensorLike, targets: TensorLike, k: int) -> Tensor: ...
def in_train_phase(
    x: Expression, alt: Expression, training: TensorLike | None = None
) -> Tensor: ...
def int_shape(x: TensorLike) -> tuple[int | None, ...]: ...
def is_keras_tensor(x: Tensor) -> bool: ...
def is_placeholder(x: object) -> bool: ...
def is_sparse(tensor: Tensor) -> bool: ...
def is_tensor(x: object) -> bool: ...
def is_variable(x: object) -> bool: ...
def l2_normalize(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor: ...
def learning_phase() -> Tensor | int: ...
def less(x: TensorLike, y: TensorLike) -> Tensor: ...
def less_equal(x: TensorLike, y: TensorLike) -> Tensor: ...
def lesser(x: TensorLike, y: TensorLike) -> Tensor: ...
def lesser_equal(x: TensorLike, y: TensorLike) -> Tensor: ...
def local_conv1d(
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Ints,
    strides: Ints,
    data_format: DataFormat | None = None,
) -> Tensor: ...
def local_conv2d(
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Ints,
    strides: Ints,
    output_shape: Shape,
    data_format: DataFormat | None = None,
) -> Tensor: ...
def log(x: TensorLike) -> Tensor: ...
def logsumexp(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
def manual_variable_initialization(value: bool) -> None: ...
def map_fn(
    fn: Callable[[Any], Any],
    elems: TensorLike | Sequence[TensorLike],
    name: str | None = None,
    dtype: DType | Sequence[DType | None] | None = None,
) -> Any: ...
def max(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
def maximum(x: TensorLike, y: TensorLike) -> Tensor: ...
def mean(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
def min(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
def minimum(x: TensorLike, y: TensorLike) -> Tensor: ...
def moving_average_update(x: Variable, value: TensorLike, momentum: float) -> Tensor: ...
def name_scope(name: str) -> AbstractContextManager[str]: ...
def ndim(x: TensorLike) -> int: ...
def normalize_batch(
    x: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    epsilon: float = 0.0001,
) -> Tensor: ...
def normalize_batch_in_training(
    x: TensorLike,
    gamma: TensorLike | None,
    beta: TensorLike | None,
    reduction_axes: Sequence[int],
    epsilon: float = 0.001,
) -> tuple[Tensor, Tensor, Tensor]: ...
def normalize_data_format(value: DataFormat | None) -> str: ...
def not_equal(x: TensorLike, y: TensorLike) -> Tensor: ...
def one_hot(indices: TensorLike, num_classes: int) -> Tensor: ...
def ones(shape: Shape, dtype: DType | None = None, name: str | None = None) -> Tensor: ...
def ones_like(x: TensorLike, dtype: DType | None = None, name: str | None = None) -> Tensor: ...
def permute_dimensions(x: TensorLike, pattern: Sequence[int]) -> Tensor: ...
def placeholder(
    shape: Sequence[int | None] | None = None,
    ndim: int | None = None,
    dtype: DType | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Tensor: ...
def pool2d(
    x: TensorLike,
    pool_size: Ints,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    pool_mode: PoolMode = "max",
) -> Tensor: ...
def pool3d(
    x: TensorLike,
    pool_size: Ints,
    strides: Ints = (1, 1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    pool_mode: PoolMode = "max",
) -> Tensor: ...
def pow(x: TensorLike, a: TensorLike) -> Tensor: ...
def print_tensor(x: Tensor, message: str = "") -> Tensor: ...
def prod(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
def random_binomial(
    shape: Shape, p: float = 0.0, dtype: DType | None = None, seed: int | None = None
) -> Tensor: ...
def random_normal(
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DType | None = None,
    seed: int | None = None,
) -> Tensor: ...
def random_normal_variable(
    shape: Sequence[int],
    mean: float,
    scale: float,
    dtype: DType | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Variable: ...
def random_uniform(
    shape: Shape,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: DType | None = None,
    seed: int | None = None,
) -> Tensor: ...
def random_uniform_variable(
    shape: Sequence[int],
    low: float,
    high: float,
    dtype: DType | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Variable: ...
def relu(
    x: TensorLike, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0
) -> Tensor: ...
def repeat(x: TensorLike, n: int) -> Tensor: ...
def repeat_elements(x: TensorLike, rep: int, axis: int) -> Tensor: ...
def reset_uids() -> None: ...
def reshape(x: TensorLike, shape: Shape) -> Tensor: ...
def resize_images(
    x: TensorLike,
    height_factor: int,
    width_factor: int,
    data_format: DataFormat,
    interpolation: Interpolation = "nearest",
) -> Tensor: ...
def resize_volumes(
    x: TensorLike, depth_factor: int, height_factor: int, width_factor: int, data_format: DataFormat
) -> Tensor: ...
def reverse(x: TensorLike, axes: int | Sequence[int]) -> Tensor: ...
def rnn(
    step_function: StepFunction,
    inputs: TensorLike,
    initial_states: Sequence[Tensor],
    go_backwards: bool = False,
    mask: TensorLike | None = None,
    constants: Sequence[Tensor] | None = None,
    unroll: bool = False,
    input_length: int | None = None,
) -> tuple[Tensor, Tensor, list[Tensor]]: ...
def round(x: TensorLike) -> Tensor: ...
def separable_conv1d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Ints = 1,
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = 1,
) -> Tensor: ...
def separable_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1),
) -> Tensor: ...
def set_epsilon(e: float) -> None: ...
def set_floatx(floatx: DType) -> None: ...
def set_image_data_format(data_format: DataFormat) -> None: ...
def set_image_dim_ordering(dim_ordering: DimOrdering) -> None: ...
def set_learning_phase(value: int) -> None: ...
def set_value(x: Variable, value: TensorLike) -> None: ...
def shape(x: TensorLike) -> Tensor: ...
def sigmoid(x: TensorLike) -> Tensor: ...
def sign(x: TensorLike) -> Tensor: ...
def sin(x: TensorLike) -> Tensor: ...
def size(x: TensorLike, name: str | None = None) -> Tensor: ...
def slice(x: TensorLike, start: Shape, size: Shape) -> Tensor: ...
def softmax(x: TensorLike, axis: int = -1) -> Tensor: ...
def softplus(x: TensorLike) -> Tensor: ...
def softsign(x: TensorLike) -> Tensor: ...
def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor: ...
def spatial_2d_padding(
    x: TensorLike,
    padding: Sequence[Sequence[int]] = ((1, 1), (1, 1)),
    data_format: DataFormat | None = None,
) -> Tensor: ...
def spatial_3d_padding(
    x: TensorLike,
    padding: Sequence[Sequence[int]] = ((1, 1), (1, 1), (1, 1)),
    data_format: DataFormat | None = None,
) -> Tensor: ...
def sqrt(x: TensorLike) -> Tensor: ...
def square(x: TensorLike) -> Tensor: ...
def squeeze(x: TensorLike, axis: int) -> Tensor: ...
def stack(x: Sequence[TensorLike], axis: int = 0) -> Tensor: ...
def std(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
@overload
def stop_gradient(variables: Tensor) -> Tensor: ...
@overload
def stop_gradient(variables: Sequence[Tensor]) -> list[Tensor]: ...
def sum(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
def switch(
    condition: TensorLike, then_expression: Expression, else_expression: Expression
) -> Tensor: ...
def symbolic(func: F) -> F: ...
def tanh(x: TensorLike) -> Tensor: ...
def temporal_padding(x: TensorLike, padding: tuple[int, int] = (1, 1)) -> Tensor: ...
def tile(x: TensorLike, n: Shape | int) -> Tensor: ...
def to_dense(tensor: Tensor) -> Tensor: ...
def transpose(x: TensorLike) -> Tensor: ...
def truncated_normal(
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DType | None = None,
    seed: int | None = None,
) -> Tensor: ...
def update(x: Variable, new_x: TensorLike) -> Tensor: ...
def update_add(x: Variable, increment: TensorLike) -> Tensor: ...
def update_sub(x: Variable, decrement: TensorLike) -> Tensor: ...
def var(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor: ...
def variable(
    value: TensorLike | SparseMatrix,
    dtype: DType | None = None,
    name: str | None = None,
    constraint: Callable[[Tensor], Tensor] | None = None,
) -> Variable: ...
def zeros(shape: Shape, dtype: DType | None = None, name: str | None = None) -> Tensor: ...
def zeros_like(x: TensorLike, dtype: DType | None = None, name: str | None = None) -> Tensor: ...
