#!/bin/sh
# PgBouncer logs in with the password that it asks for.
set -eu
umask 077
printf '"memoryproject_app" "%s"\n' "$APP_PASSWORD" > /tmp/users.txt
exec pgbouncer /etc/memoryproject/pgbouncer.ini
