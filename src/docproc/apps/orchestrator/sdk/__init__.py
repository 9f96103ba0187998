"""The SDK: how a service in Python takes envelopes, reports progress, asks for tools and answers."""
