"""Boards, tokens and templates as PDF files true to size."""
