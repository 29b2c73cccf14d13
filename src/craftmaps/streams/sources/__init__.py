"""Where rows come from: files, folders, standard input and data frames, and the format of each."""
