"""The front: one process that owns the public address and never waits for anybody.

It reads a request whole, bounded in size and time, before it reaches a process that serves others;
lets tenants take turns; hands each request to a free process of the right lane (`lanes.py`);
answers by itself what must be answered in any case; and ends a process that is stuck. It knows no
Django and no database: all it knows of tenants comes with the processes' answers.
"""
