"""The CLRS-30 algorithms, a family a file. Every module-level `Task` in here is a task."""
