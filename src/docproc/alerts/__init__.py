"""Alerts for every application: metrics with their history, rules over them, actions and notices."""
