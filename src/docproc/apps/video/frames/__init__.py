"""Frames on disk: how they are written, filtered, and collected in order."""
