import numpy as np

from algoscope.tasks.compilation import in_python
from algoscope.tasks.summation import pairwise_sum


def test_equals_numpy_bit_for_bit_at_every_length():
    random = np.random.RandomState(0)
    for length in [*range(2001), 8191, 8192, 8193, 65537]:
        values = random.standard_normal(length) * 10.0 ** random.randint(-8, 8, length)
        assert pairwise_sum(values) == np.sum(values), length


def test_plain_python_equals_compiled():
    values = np.random.RandomState(1).random_sample(300)
    for length in (1, 7, 8, 9, 127, 128, 129, 300):
        assert in_python(pairwise_sum)(values[:length]) == np.sum(values[:length]), length
