"""Recall: a question in words, memories told apart by time; writing memories is not done here."""
