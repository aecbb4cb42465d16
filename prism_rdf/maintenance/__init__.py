"""Keeping a store whole: copies, transfers, derived graphs made anew, forgetting; what a project says is not here."""
