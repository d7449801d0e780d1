"""The figures of a report, one module a subject; `style` says how they look and are saved."""
