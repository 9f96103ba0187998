"""The TCP server: its protocol, its uploads, its clients."""
