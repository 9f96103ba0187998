"""What a material is made of: its text by pages and chapters, its summary, its quiz; no engine inside."""
