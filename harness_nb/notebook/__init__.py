"""The face in a notebook: magics, completion, live display and widgets; the only layer that imports IPython and ipywidgets."""
