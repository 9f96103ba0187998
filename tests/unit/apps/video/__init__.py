"""Tests of the video application."""
