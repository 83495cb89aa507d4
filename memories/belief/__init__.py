"""Belief: new statements compared with old ones, decisions of people, cases."""
