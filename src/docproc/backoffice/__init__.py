"""The back office: where people answer what DocProc is not sure of."""
