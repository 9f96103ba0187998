"""Documents: files become pages, pages documents, documents fields."""
