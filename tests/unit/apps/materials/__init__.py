"""Tests of the materials application."""
