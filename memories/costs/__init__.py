"""What calls of models cost: counted where they are made, added up by workspace, day, purpose and
model, and refused where a budget is used up."""
