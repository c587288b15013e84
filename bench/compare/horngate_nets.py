"""The large nets on Horngate: predict_on_batch and train_on_batch of Keras 2.3.1; the encoder as one K.function."""

import applications as apps
from common import workload

CPU = "cpu"


def model_of(name):
    net, _ = apps.net_of(name)
    model = apps.keras_model(net)
    apps.scale_last(model, apps.Description(net).scale)
    return model


def add_inference(name):
    @workload(name, CPU)
    def _(_):
        model, x = model_of(name), apps.images(name)
        return lambda: model.predict_on_batch(x)


def add_training(name):
    @workload(name, CPU)
    def _(_):
        from keras.optimizers import SGD

        model, x, y = model_of(name), apps.images(name), apps.classes(name)
        model.compile(SGD(apps.RATE, apps.MOMENTUM), "sparse_categorical_crossentropy")
        return lambda: model.train_on_batch(x, y)


def encoder(K):
    """The function of words."""
    tables, first, layers = apps.encoder_weights()
    places, norm = K.variable(tables[1]), [K.variable(w) for w in first]
    table, layers = K.variable(tables[0]), [[K.variable(w) for w in layer] for layer in layers]
    d, heads = apps.WIDTH, apps.HEADS

    def dense(x, w, b):
        return K.bias_add(K.dot(x, w), b)

    def layer_norm(x, gamma, beta):
        mean, var = K.mean(x, -1, keepdims=True), K.var(x, -1, keepdims=True)
        return (x - mean) / K.sqrt(var + apps.EPSILON) * gamma + beta

    def gelu(x):
        return 0.5 * x * (1.0 + K.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))

    def attention(x, w, b):
        t = K.int_shape(x)[1]
        qkv = K.reshape(dense(x, w, b), (-1, t, 3, heads, d // heads))
        qkv = K.permute_dimensions(qkv, (2, 0, 3, 1, 4))
        q, k, v = (K.reshape(qkv[i], (-1, t, d // heads)) for i in range(3))
        scores = K.softmax(K.batch_dot(q, k, axes=(2, 2)) / (d // heads) ** 0.5)
        a = K.reshape(K.batch_dot(scores, v, axes=(2, 1)), (-1, heads, t, d // heads))
        return K.reshape(K.permute_dimensions(a, (0, 2, 1, 3)), (-1, t, d))

    def net(ids):
        x = layer_norm(K.gather(table, ids) + places, *norm)
        for p in layers:
            x = layer_norm(x + dense(attention(x, p[0], p[1]), p[2], p[3]), p[8], p[9])
            x = layer_norm(x + dense(gelu(dense(x, p[4], p[5])), p[6], p[7]), p[10], p[11])
        return x

    return net


def add_encoder(name):
    @workload(name, CPU)
    def _(_):
        import horngate as K

        ids = apps.words(name)
        inputs = K.placeholder((None, ids.shape[1]), dtype="int32")
        function = K.function([inputs], [encoder(K)(inputs)])
        return lambda: function([ids])


for _name in apps.INFERENCE:
    (add_encoder if _name.startswith("encoder") else add_inference)(_name)
for _name in apps.TRAINING:
    add_training(_name)
