"""One entry for many services and tenants: tasks over services, followed in real time."""
