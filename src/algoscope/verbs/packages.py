"""Packages that are not installed: what to type to have them."""

import importlib.util

_EXTRAS = {
    "llm": ("torch", "transformers", "sklearn", "tokenizers", "gguf", "accelerate"),
    "harness": ("inspect_ai", "lm_eval"),
    "ray": ("ray",),
    "slurm": ("submitit",),
    "track": ("tensorboard", "wandb", "mlflow"),
}
"""What comes with the extras of this package, by the names of modules."""


def advice(module: str) -> str:
    """About the package of a module that is missing."""
    package = module.partition(".")[0]
    if package != module and importlib.util.find_spec(package):
        return f"{package} has no such part; correct the name, or install a version that has it"
    for extra, packages in _EXTRAS.items():
        if package in packages:
            return f"{package} is not installed; it comes with pip install 'algoscope[{extra}]'"
    return f"{package} is not installed, and needed; pip install {package}"
