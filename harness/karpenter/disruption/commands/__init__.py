"""A command of the disruption controller, from the moment it is found until its nodes are gone or stay after all."""
