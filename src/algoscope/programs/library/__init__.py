"""The programs that come with Algoscope, a subject a file; `wrong` holds the controls."""
