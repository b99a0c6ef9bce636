"""Widgets: a view model, the HTML of `render/`, and ipywidgets around it."""
