"""ctc_decode: the likeliest labels, against a search of everything."""

import horngate as K
import numpy as np
from cases import oracles
from cases.harness import check, error
from cases.inputs import ints, rand


@check(dtype=("float32", "float64"), seed=(0, 1, 2), samples=(1, 3))
def greedy_search(dtype, seed, samples):
    rng = np.random.default_rng(seed)
    y_pred = rng.dirichlet(np.ones(4), (samples, 7)).astype(dtype)
    lengths = rng.integers(1, 8, samples)
    x, n = K.placeholder((None, None, 4), dtype=dtype), K.placeholder((None,), dtype="int32")
    [decoded], score = K.ctc_decode(x, n)
    got, got_score = K.function([x, n], [decoded, score])([y_pred, lengths])
    wanted, wanted_score = oracles.ctc_greedy(y_pred.astype("float64"), lengths)
    assert got.dtype == "int64" and got_score.dtype == dtype
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_allclose(got_score, wanted_score, rtol=1e-5)


@check(dtype=("float32", "float64"), seed=(0, 1, 2), top_paths=(1, 3))
def beam_search(dtype, seed, top_paths):
    """A beam that holds every sequence finds what trying them all finds."""
    rng = np.random.default_rng(seed)
    y_pred = rng.dirichlet(np.ones(3), (3, 5)).astype(dtype)
    lengths = np.array([5, 3, 4])
    x, n = K.placeholder((None, None, 3), dtype=dtype), K.placeholder((None,), dtype="int32")
    decoded, score = K.ctc_decode(x, n, greedy=False, beam_width=400, top_paths=top_paths)
    *got, got_score = K.function([x, n], [*decoded, score])([y_pred, lengths])
    wanted, wanted_score = oracles.ctc_best(y_pred.astype("float64"), lengths, top_paths)
    assert len(got) == top_paths and got_score.shape == (3, top_paths)
    np.testing.assert_allclose(got_score, wanted_score, rtol=1e-4)
    for one, other in zip(got, wanted):
        np.testing.assert_array_equal(one, other)


@check
def a_narrow_beam_gives_real_sequences():
    rng = np.random.default_rng(3)
    y_pred = rng.dirichlet(np.ones(3), (2, 6))
    x = K.constant(y_pred)
    [decoded], score = K.ctc_decode(
        x, K.constant([6, 6], dtype="int32"), greedy=False, beam_width=4
    )
    f = K.function([], [decoded, score])
    labels, scores = f([])
    # What a beam adds up is a part of the probability of the labels.
    for row, got, p in zip(labels, scores.ravel(), y_pred):
        row = row[row >= 0][None]
        cost = oracles.ctc_batch_cost(row, p[None], np.array([6]), np.array([row.size]))
        assert got <= -cost[0, 0] + 1e-5


@check
def repeats_are_merged_only_when_asked():
    # 0, blank, 0 spells two equal labels.
    p = [[[0.9, 0.05, 0.05], [0.05, 0.05, 0.9], [0.9, 0.05, 0.05]]]
    for merge, wanted in [(False, [[0, 0]]), (True, [[0]])]:
        [decoded], _ = K.ctc_decode(
            K.constant(p),
            K.constant([3], dtype="int32"),
            greedy=False,
            beam_width=20,
            merge_repeated=merge,
        )
        np.testing.assert_array_equal(K.eval(decoded), wanted)


@check
def nothing_but_blanks():
    p = [[[0.1, 0.9], [0.2, 0.8]]]
    [decoded], _ = K.ctc_decode(K.constant(p), K.constant([2], dtype="int32"))
    assert K.eval(decoded).shape == (1, 0)


@check
def what_is_decoded_can_be_used():
    """The width is known only to the call, in the middle of the graph."""
    rng = np.random.default_rng(0)
    x = K.placeholder((None, 6, 4))
    [decoded], _ = K.ctc_decode(x, K.constant([6, 6], dtype="int32"))
    total = K.sum(K.gather(K.constant([1.0, 10.0, 100.0, 0.0]), K.maximum(decoded, 0)), axis=1)
    y_pred = rng.dirichlet(np.ones(4), (2, 6))
    [got] = K.function([x], [total])([y_pred])
    labels, _ = oracles.ctc_greedy(y_pred, np.array([6, 6]))
    np.testing.assert_allclose(got, np.array([1.0, 10.0, 100.0, 0.0])[np.maximum(labels, 0)].sum(1))


error(
    K.ctc_decode,
    [rand(2, 5), ints(2)],
    text="ctc_decode: y_pred must have 3 dimensions (samples, time, categories); got shape (2, 5).",
)
error(
    K.ctc_decode,
    [rand(2, 5, 3), ints(2)],
    greedy=False,
    beam_width=0,
    text="ctc_decode: beam_width must be at least 1; got 0.",
)
error(
    K.ctc_decode,
    [rand(2, 5, 3), ints(2)],
    greedy=False,
    beam_width=5,
    top_paths=6,
    text="ctc_decode: top_paths must be in [1, 5], the beam_width; got 6.",
)
error(
    K.ctc_decode,
    [rand(2, 5, 3), ints(3)],
    text="ctc_decode: input_length must have 2 entries, as y_pred of shape (2, 5, 3); got shape (3,).",
)
