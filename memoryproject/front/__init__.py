"""The front: one process that owns the public address and never waits for anybody.

It reads a request whole, bounded in size and time, before any process that serves others hears of
it; lets tenants take turns; hands each request to a process of the right lane that is free
(`lanes.py`); answers by itself what must be answered in any case; and ends a process that is stuck.
It knows no Django and no database: what the processes tell it with their answers is all it knows of
tenants.
"""
