"""Blob stores: a local folder, an S3-compatible bucket, and encryption around either."""
