"""Change: events with assertions are the source, states are their fold over valid time; identity is decided elsewhere."""
