"""Promotion: a changed workflow reaches production when it passes the cases that people vouched for."""
