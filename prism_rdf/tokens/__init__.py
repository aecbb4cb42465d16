"""Who may do what over a network: bearer tokens with scopes; which request needs which scope is said at the doors."""
