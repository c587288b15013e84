"""train_on_batch of tf_keras, NumPy in: what a user of Keras calls."""

from common import workload
from data import net_data, resnet20_blocks


def mlp(layers):
    return [layers.Dense(512, "relu"), layers.Dense(512, "relu"), layers.Dense(10)]


def cnn(layers):
    convolutions = [
        layers.Conv2D(32, 3, activation="relu"),
        layers.Conv2D(64, 3, activation="relu"),
    ]
    dense = [layers.Dense(128, "relu"), layers.Dense(10)]
    return [*convolutions, layers.MaxPooling2D(), layers.Flatten(), *dense]


def lstm(layers):
    return [layers.LSTM(128), layers.Dense(10)]


def resnet20(layers):
    def conv(x, c, k, stride=1):
        return layers.Conv2D(c, k, stride, padding="same", use_bias=False)(x)

    def norm(x):
        return layers.BatchNormalization()(x)

    def net(x):
        x = layers.ReLU()(norm(conv(x, 16, 3)))
        for stride, before, c in resnet20_blocks():
            y = layers.ReLU()(norm(conv(x, c, 3, stride)))
            short = x if before == c else conv(x, c, 1, stride)
            x = layers.ReLU()(layers.Add()([norm(conv(y, c, 3)), short]))
        return layers.Dense(10)(layers.GlobalAveragePooling2D()(x))

    return [net]


def add(name, make, sgd=False):
    @workload(name, "keras")
    def _(_):
        import tf_keras

        x, y = net_data(name)
        start = value = tf_keras.layers.Input(x.shape[1:])
        for layer in make(tf_keras.layers):
            value = layer(value)
        model = tf_keras.Model(start, value)
        optimizer = tf_keras.optimizers.SGD(0.01) if sgd else tf_keras.optimizers.Adam(1e-3)
        loss = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer, loss)
        return lambda: model.train_on_batch(x, y)


add("mlp_sgd", mlp, sgd=True)
add("mlp_adam", mlp)
add("cnn_adam", cnn)
add("lstm_train", lstm)
add("resnet20_train", resnet20)
