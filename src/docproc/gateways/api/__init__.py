"""The HTTP gateway: files come in, and clients look at what became of them."""
