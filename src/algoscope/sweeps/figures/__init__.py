"""The figures of a sweep's page, one a file; each can draw ten runs, and ten thousand."""
