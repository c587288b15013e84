"""The cases on TensorFlow."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

from horngate._bench.cases import RATE


def threads(count):
    tf.config.threading.set_intra_op_parallelism_threads(count)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def _on(function):
    def make(*arrays):
        tensors, compiled = [tf.constant(a) for a in arrays], tf.function(function)
        return lambda: compiled(*tensors).numpy()

    return make


call = _on(lambda x: x + 1)
product = _on(tf.matmul)
gelu = _on(lambda x: tf.nn.gelu(x, approximate=True))
softmax = _on(tf.nn.softmax)
convolution = _on(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"))


def training(x, labels, *weights):
    x, labels = tf.constant(x), tf.constant(labels)
    variables = [tf.Variable(w) for w in weights]

    @tf.function
    def step():
        w1, b1, w2, b2 = variables
        with tf.GradientTape() as tape:
            scores = tf.nn.relu(x @ w1 + b1) @ w2 + b2
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, scores))
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(RATE * gradient)
        return loss

    return lambda: step().numpy()
