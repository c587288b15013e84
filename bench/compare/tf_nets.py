"""Training the large nets on TensorFlow: train_on_batch of tf_keras, from the same layers and weights."""

from applications import (
    MOMENTUM,
    RATE,
    TRAINING,
    Description,
    classes,
    images,
    net_of,
)
from common import workload


def add(name, jit):
    @workload(name, "xla" if jit else "keras")
    def _(_):
        import tf_keras

        description = Description(net_of(name)[0])
        model = tf_keras.models.model_from_json(description.keras)
        for node in description.nodes:
            if node["weights"]:
                model.get_layer(node["name"]).set_weights(description.weights(node))
        x, y = images(name), classes(name)
        optimizer = tf_keras.optimizers.SGD(RATE, MOMENTUM)
        model.compile(optimizer, "sparse_categorical_crossentropy", jit_compile=jit)
        return lambda: model.train_on_batch(x, y)


for _name in TRAINING:
    add(_name, jit=False)
