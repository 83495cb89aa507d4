"""The embedded server's configuration, scaled to the memory that this machine (or container)
gives."""

import os
from pathlib import Path

MB = 2**20
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
# Tests may lose everything when the machine stops.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def server_options(socket: Path, *, fast: bool) -> dict[str, str]:
    memory = memory_bytes()
    maintenance = min(memory // 8, 1024 * MB)
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(socket),
        "unix_socket_permissions": "0700",
        # Only what is used is taken; a million memories' indexes of vectors are two gigabytes.
        "shared_buffers": _megabytes(min(memory // 4, 4096 * MB)),
        "effective_cache_size": _megabytes(memory * 6 // 10),
        "work_mem": "32MB",
        "maintenance_work_mem": _megabytes(maintenance),
        # Parallel index builds put maintenance_work_mem there; containers often have 64 MB of it.
        "dynamic_shared_memory_type": "posix" if _shared_memory() > 2 * maintenance else "mmap",
        "max_wal_size": "2GB",
        "random_page_cost": "1.1",
        "max_parallel_workers_per_gather": "0",
        "jit": "off",
        # Index-only scans need a fresh visibility map.
        "autovacuum_vacuum_scale_factor": "0.02",
        "autovacuum_vacuum_insert_scale_factor": "0.02",
        "autovacuum_analyze_scale_factor": "0.02",
        "log_min_messages": "warning",
    }
    return {**options, **FAST} if fast else options


def memory_bytes() -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = CGROUP_LIMIT.read_text().strip()
    except OSError:
        return machine
    return min(machine, int(limit)) if limit.isdigit() else machine


def _shared_memory() -> int:
    try:
        disk = os.statvfs("/dev/shm")
    except OSError:
        return 0
    return disk.f_bavail * disk.f_frsize


def _megabytes(size: int) -> str:
    return f"{max(size // MB, 16)}MB"
