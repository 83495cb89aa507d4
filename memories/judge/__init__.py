"""A small trained model that says what a message does to a belief, what a sentence is worth, and what is an order."""
