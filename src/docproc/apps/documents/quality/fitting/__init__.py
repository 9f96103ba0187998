"""Fits weights to labelled documents: what `docproc learn` does at an installation, and training before a
release. What is drawn for that comes packed (`packed.py`): nothing here draws."""
