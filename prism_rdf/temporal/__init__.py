"""Change: events with assertions are the source, states their fold over valid time; identity is decided elsewhere."""
