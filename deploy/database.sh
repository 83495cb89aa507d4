#!/bin/sh
# Run once by the image of PostgreSQL: the database, its owner, who is no superuser, and the login of
# web and worker, which may change rows and nothing else: the owner gives it its rights.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=owner_password="$OWNER_PASSWORD" --set=app_password="$APP_PASSWORD" \
  --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
create role memory login createrole password :'owner_password';
create role memoryproject_app login password :'app_password';
grant memoryproject_app to memory with admin option;
alter role memoryproject_app set client_connection_check_interval = '2s';
create database memory owner memory template template0 encoding 'UTF8';
\connect memory
create extension vector;
SQL
