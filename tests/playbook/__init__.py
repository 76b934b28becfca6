"""Scripted ports: canned decisions and evidence, and one transcript of what was asked and answered."""
