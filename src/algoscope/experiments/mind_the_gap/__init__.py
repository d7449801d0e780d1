"""Mind The Gap (arXiv 2505.18623): tables 1, 10 and 14, figures 1 to 5, 10, 11, 14 and 15.

All of them are read off ensembles, each trained and measured once in the folder of the experiment:
give several experiments one folder, and they share what they can.

    experiments    the five of them, and what each trains
    presets        what is trained, small and as in the paper, and what that takes
    solutions      plan -> trained and measured seeds, by chunks, which can be stopped
    measure_seeds  trained network -> its numbers
    tables         the tables, beside the paper's numbers
    claims         what the paper says about its figures, and whether it holds
    draw_figures   the figures
    results        what each experiment shows; all tables and claims of a folder, for documents
"""
