"""The component that makes a film of a film."""
