"""Reading of messages: secrets and orders found, orders of people, claims extracted."""
