"""Sample documents, and the training of the packaged weights: tools beside DocProc, installed apart."""
