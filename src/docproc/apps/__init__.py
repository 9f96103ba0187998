"""The applications: each is a manifest, its components and what surrounds them."""
