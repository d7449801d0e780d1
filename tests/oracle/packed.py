"""Many small arrays in one small file: a zip entry for each would outweigh its content."""

import json
import math
import pathlib

import numpy as np


def save(path: pathlib.Path, arrays: dict[str, np.ndarray], dtype: type) -> None:
    index = json.dumps({name: list(array.shape) for name, array in arrays.items()})
    values = np.concatenate([np.ravel(array) for array in arrays.values()]).astype(dtype)
    np.savez_compressed(path, index=np.frombuffer(index.encode(), np.uint8), values=values)


def load(path: pathlib.Path) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        index, values = json.loads(file["index"].tobytes()), file["values"]
    ends = np.cumsum([math.prod(shape) for shape in index.values()])
    parts = np.split(values, ends[:-1])
    return {name: part.reshape(index[name]) for name, part in zip(index, parts, strict=True)}
