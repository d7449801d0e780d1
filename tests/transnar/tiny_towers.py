"""Configurations of towers that take a second once they are compiled."""

from algoscope.configuration import TowerConfig, TransnarConfig

TOWER = TowerConfig(width=16, layers=2, heads=2, context=128, reads="final")
CONFIG = TransnarConfig(
    ("bfs",), sizes=(4,), samples=12, steps=5, batch=4, learning_rate=1e-2, warmup=2, tower=TOWER
)
