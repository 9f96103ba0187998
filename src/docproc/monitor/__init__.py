"""What watches over requests: the SLA monitor."""
