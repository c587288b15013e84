"""Generated data in the places and layouts in which the scripts of Keras look for theirs."""

import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tarfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
random = np.random.RandomState(0)


def digits():
    """The handwritten digits of examples/, 8 x 8, in 0 .. 16."""
    lines = [line.split() for line in (ROOT / "examples/data/digits.txt").read_text().splitlines()]
    images = np.array([[int(c, 17) for c in pixels] for _, pixels in lines], "uint8")
    return images.reshape(-1, 8, 8), np.array([int(label) for label, _ in lines], "uint8")


def placed(images, size):
    """Each picture enlarged, at a random place of a square of the size."""
    large = np.kron(images, np.ones((1, 2, 2), "uint8"))
    out = np.zeros((len(images), size, size), "uint8")
    for target, image in zip(out, large):
        row, column = random.randint(2, size - 18, size=2)
        target[row : row + 16, column : column + 16] = np.minimum(image * 16.0, 255)
    return out


def mnist(home):
    images, labels = digits()
    cut = 1500
    parts = {}
    for name, low, high, n in (("train", 0, cut, 60000), ("test", cut, len(images), 10000)):
        chosen = random.randint(low, high, size=n)
        parts["x_" + name], parts["y_" + name] = placed(images[chosen], 28), labels[chosen]
    np.savez(home / "datasets/mnist.npz", **parts)


def cifar10(home):
    """Digits on coloured ground, in six files of 10,000."""
    images, labels = digits()
    folder = home / "datasets/cifar-10-batches-py"
    folder.mkdir()
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        chosen = random.randint(0, len(images), size=10000)
        ground = random.randint(0, 100, size=(10000, 3, 1, 1))
        data = np.maximum(placed(images[chosen], 32)[:, None], ground).astype("uint8")
        content = {b"data": data.reshape(10000, -1), b"labels": labels[chosen].tolist()}
        (folder / name).write_bytes(pickle.dumps(content))
    (home / "datasets/cifar-10-batches-py.tar.gz").write_bytes(b"")  # it is unpacked already


def documents(n, classes, words):
    """Lists of word numbers: each class has its own words among the common ones."""
    y = random.randint(classes, size=n)
    x = np.empty(n, dtype=object)
    for i, label in enumerate(y):
        common = random.randint(4, words, size=random.randint(20, 120))
        own = random.randint(0, 20, size=random.randint(5, 20)) * classes + label + 4
        mixed = np.concatenate([common, own])
        random.shuffle(mixed)
        x[i] = mixed.tolist()
    return x, y


def imdb(home):
    (x, y), (u, v) = documents(2500, 2, 20000), documents(500, 2, 20000)
    np.savez(home / "datasets/imdb.npz", x_train=x, y_train=y, x_test=u, y_test=v)


def reuters(home):
    x, y = documents(4000, 46, 5000)
    np.savez(home / "datasets/reuters.npz", x=x, y=y)


def story(facts):
    people, places = (
        ["Mary", "John", "Daniel", "Sandra"],
        ["kitchen", "garden", "office", "hallway"],
    )
    lines, where, number = [], {}, 0
    for _ in range(5):
        for _ in range(facts):
            number += 1
            who, place = random.choice(people), random.choice(places)
            where[who] = place
            lines.append(f"{number} {who} went to the {place}.")
        number += 1
        asked = random.choice(sorted(where))
        lines.append(f"{number} Where is {asked}? \t{where[asked]}\t{number - 1}")
    return "\n".join(lines) + "\n"


def babi(home):
    with tarfile.open(home / "datasets/babi-tasks-v1-2.tar.gz", "w:gz") as tar:
        for task, facts in (("qa1_single-supporting-fact", 2), ("qa2_two-supporting-facts", 3)):
            for kind, stories in (("en", 200), ("en-10k", 400)):
                for part in ("train", "test"):
                    text = "".join(story(facts) for _ in range(stories)).encode()
                    info = tarfile.TarInfo(f"tasks_1-20_v1-2/{kind}/{task}_{part}.txt")
                    info.size = len(text)
                    tar.addfile(info, io.BytesIO(text))


NOUNS = "fox bird river bridge garden miller cousin horse window letter winter song".split()
VERBS = "sees hears finds follows likes paints forgets wakes".split()


def sentence():
    a, b = random.choice(NOUNS, size=2, replace=False)
    return f"The {a} {random.choice(VERBS)} the {b}."


def nietzsche(home):
    text = " ".join(sentence() for _ in range(1500))
    (home / "datasets/nietzsche.txt").write_text(text)


def wordlists(home):
    """The words of image_ocr.py, as if unpacked; it wants 16,000 of at most four letters."""
    letters = list("abcdefghijklmnopqrstuvwxyz")
    one = ["".join(random.choice(letters, size=random.randint(2, 6))) for _ in range(30000)]
    two = [f"{a} {b}" for a, b in zip(one, reversed(one))]
    for name, lines in (("mono", one), ("bi", two)):
        (home / f"datasets/wordlist_{name}_clean.txt").write_text("\n".join(lines) + "\n")
    # Keras asks for the archive and for a folder of its name.
    (home / "datasets/wordlists.tgz").mkdir()
    (home / "datasets/wordlists.tgz.tar.gz").write_bytes(b"")


def french(work):
    """English and a made-up language: the letters of each word turned round."""
    (work / "fra-eng").mkdir()
    pairs = [sentence() for _ in range(1200)]
    turned = [" ".join(word[::-1] for word in pair.split()) for pair in pairs]
    lines = [f"{a}\t{b}" for a, b in zip(pairs, turned)]
    (work / "fra-eng/fra.txt").write_text("\n".join(lines) + "\n")


def newsgroups(work):
    """20 folders of messages and vectors for the words."""
    words = [f"word{i}" for i in range(600)]
    (work / "glove.6B").mkdir()
    with open(work / "glove.6B/glove.6B.100d.txt", "w") as f:
        for word in words:
            f.write(word + " " + " ".join(f"{v:.4f}" for v in random.normal(size=100)) + "\n")
    for group in range(20):
        folder = work / f"20_newsgroup/group.{group}"
        folder.mkdir(parents=True)
        for number in range(40):
            own = random.choice(words[group * 30 : group * 30 + 30], size=30)
            text = " ".join(np.concatenate([own, random.choice(words, size=100)]))
            (folder / str(number)).write_text("Subject: none\n\n" + text)


def pictures(work):
    """A photograph of sorts, a painting of sorts and two masks."""
    from PIL import Image

    y, x = np.mgrid[0:96, 0:128] / 16.0
    scene = np.stack([np.sin(x), np.cos(y), np.sin(x * y)], axis=-1)
    style = np.stack([np.sin(3 * x + y), np.sin(x - 2 * y), np.cos(5 * y)], axis=-1)
    for name, values in (("base", scene), ("style", style)):
        Image.fromarray((values * 127 + 128).astype("uint8")).save(work / f"{name}.png")
    for name, mask in (("style_mask", x > 4), ("target_mask", y > 3)):
        Image.fromarray(np.repeat((mask * 255).astype("uint8")[..., None], 3, -1)).save(
            work / f"{name}.png"
        )


WEIGHTS = """
import sys
from keras.applications import {module}
{module}.{name}(weights=None, include_top={top}).save_weights(sys.argv[1])
"""


def imagenet(home, env):
    """Files of weights, not trained, in the place of those of ImageNet."""
    for module, name, file, top in (
        ("vgg16", "VGG16", "vgg16_weights_tf_dim_ordering_tf_kernels_notop.h5", False),
        ("vgg19", "VGG19", "vgg19_weights_tf_dim_ordering_tf_kernels_notop.h5", False),
        (
            "inception_v3",
            "InceptionV3",
            "inception_v3_weights_tf_dim_ordering_tf_kernels_notop.h5",
            False,
        ),
        ("resnet50", "ResNet50", "resnet50_weights_tf_dim_ordering_tf_kernels.h5", True),
    ):
        code = WEIGHTS.format(module=module, name=name, top=top)
        subprocess.run([sys.executable, "-c", code, home / "models" / file], env=env, check=True)
    classes = {str(i): [f"n{i:08d}", f"thing_{i}"] for i in range(1000)}
    (home / "models/imagenet_class_index.json").write_text(json.dumps(classes))


def make(home, work, env):
    """All of it; does nothing where it was done before."""
    stamp = home / "made"
    if stamp.exists():
        return
    for folder in (home / "datasets", home / "models", work):
        os.makedirs(folder, exist_ok=True)
    for maker in (mnist, cifar10, imdb, reuters, babi, nietzsche, wordlists):
        maker(home)
    for maker in (french, newsgroups, pictures):
        maker(work)
    imagenet(home, env)
    stamp.write_text("")
