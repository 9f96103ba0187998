"""The RabbitMQ door: events of other systems, held until they are safe."""
