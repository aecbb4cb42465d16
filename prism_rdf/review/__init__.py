"""Guesses: candidates with their clues and rulings; what a promotion writes is believed by the other layers."""
