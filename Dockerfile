# The server in a container: an ordinary user, a root file system that may be read-only, all state
# in /data. Without DATABASE_URL it brings its own PostgreSQL, below /data as well.
FROM python:3.11-slim-trixie AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
COPY requirements/base.txt /tmp/requirements.txt
RUN /opt/venv/bin/pip install --require-hashes --no-deps -r /tmp/requirements.txt

FROM python:3.11-slim-trixie
# git reads repositories by their address.
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --create-home --home-dir /home/memoryproject --shell /usr/sbin/nologin memoryproject \
    && install -d -o memoryproject -g memoryproject -m 0700 /data
COPY --from=build /opt/venv /opt/venv
COPY manage.py pyproject.toml LICENSE NOTICE /app/
COPY memoryproject /app/memoryproject
COPY memories /app/memories
COPY workspaces /app/workspaces
COPY static /app/static
COPY templates /app/templates
RUN /opt/venv/bin/python -m compileall -q /app
ENV PATH="/opt/venv/bin:$PATH" MEMORY_DATA_DIR=/data PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
WORKDIR /app
USER 10001
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# Of the front alone, which answers also while all else is busy.
HEALTHCHECK --interval=15s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
CMD ["python", "manage.py", "up", "--host", "0.0.0.0", "--port", "8000"]
