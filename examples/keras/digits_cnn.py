"""A convolutional net reads handwritten digits.

The hello-world of Keras: Sequential, Conv2D, Dropout, fit with validation data and a callback.
"""

from common import load_digits, options, show

import keras
from keras.callbacks import EarlyStopping
from keras.layers import Conv2D, Dense, Dropout, Flatten, MaxPooling2D
from keras.models import Sequential

args = options(__doc__)

(x_train, y_train), (x_test, y_test) = load_digits()
classes = 10

model = Sequential()
model.add(Conv2D(32, (3, 3), activation="relu", padding="same", input_shape=(8, 8, 1)))
model.add(Conv2D(32, (3, 3), activation="relu"))
model.add(MaxPooling2D(pool_size=(2, 2)))
model.add(Dropout(0.25))
model.add(Flatten())
model.add(Dense(128, activation="relu"))
model.add(Dropout(0.5))
model.add(Dense(classes, activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer="adadelta", metrics=["accuracy"])

history = model.fit(
    x_train,
    keras.utils.to_categorical(y_train, classes),
    batch_size=32,
    epochs=8 if args.small else 60,
    verbose=args.verbose,
    validation_split=0.1,
    callbacks=[EarlyStopping(monitor="val_loss", patience=8, restore_best_weights=True)],
)
loss, accuracy = model.evaluate(x_test, keras.utils.to_categorical(y_test, classes), verbose=0)

guesses = model.predict_classes(x_test)
for i in (guesses != y_test).nonzero()[0][:1]:
    print("One that it gets wrong, a %d read as %d:" % (y_test[i], guesses[i]))
    show(x_test[i, :, :, 0])
print("epochs: %d, parameters: %d" % (len(history.epoch), model.count_params()))
print("accuracy on digits of other writers: %.3f (chance 0.100)" % accuracy)
