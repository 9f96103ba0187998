"""Training: makes the weights in `understanding/models` from samples, made-up pages and labelled folders."""
