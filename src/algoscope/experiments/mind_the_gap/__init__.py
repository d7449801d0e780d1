"""Mind The Gap (arXiv 2505.18623): the tables and figures that `algoscope reproduce --list` names.

All of them are read off ensembles, each trained and measured once in the folder of the experiment:
give several experiments one folder, and they share what they can.

    experiments    which there are, and what each trains
    score_tables   the tables of test scores, each one value
    settings       tables 3 to 8: the paper's settings beside ours
    compiled       figures 6 to 9: the printed parameters
    presets        arms and baselines, small or as in the paper, and what that takes
    depth          how long the traces of each task are
    soft           compiled networks to begin from
    stability      table 16: what becomes of them in training
    landscapes     figures 12, 13 and 16 to 18: the loss around weights
    solutions      plan -> trained and measured seeds, by chunks, which can be stopped
    measure_seeds  trained network -> its numbers, with either weights
    tables         the tables, beside the paper's numbers
    claims         what the paper says about its figures, and whether it holds
    both_weights   what results/words say about either weights
    draw_figures   the figures
    results        what each experiment shows; all tables and claims of a folder, for documents
"""
