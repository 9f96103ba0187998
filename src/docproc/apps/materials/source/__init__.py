"""From an address to the text: downloading, reading, cleaning."""
