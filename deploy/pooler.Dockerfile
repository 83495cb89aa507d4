# PgBouncer in transaction mode. Debian 13 has 1.24; older ones than 1.21 are refused at start.
FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends pgbouncer \
    && rm -rf /var/lib/apt/lists/*
COPY pgbouncer.ini pooler.sh /etc/memoryproject/
USER postgres
EXPOSE 6432
HEALTHCHECK --interval=10s --timeout=3s CMD ["sh", "-c", "grep -q pgbouncer /proc/1/comm"]
CMD ["sh", "/etc/memoryproject/pooler.sh"]
