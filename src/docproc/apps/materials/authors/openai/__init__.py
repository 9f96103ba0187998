"""The author that asks a model at any address that speaks the API of OpenAI."""
