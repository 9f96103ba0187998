"""How envelopes travel: each implementation of `ServiceWire`."""
