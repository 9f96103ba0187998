"""Who may come in over HTTP, and whose work it is: keys, tokens, scopes, limits, audit of use."""
