"""Fields from the pages of a document: `document.extract` finds values by labels, looks and check digits.

Imports nothing: whoever reads a workflow file needs `spec` and `rules`, not what finds values.
"""
