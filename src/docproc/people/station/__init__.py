"""The review station: a web server where people answer tasks."""
