#!/bin/sh
# Writes a backup of the database into BACKUP_FOLDER, now and every BACKUP_EVERY_SECONDS, and removes those that are older than
# BACKUP_KEEP_DAYS. Without BACKUP_EVERY_SECONDS it writes one, and ends. It is pg_dump that makes it (PGHOST, PGUSER, …); where
# TOLLHOUSE says how the program is started, it is "tollhouse db backup" of DATABASE_URL, for SQLite as for Postgres.
set -eu
trap 'kill "${!:-}" 2>/dev/null; exit 0' TERM INT
# The books hold secrets of webhooks and upstreams.
umask 077
: "${BACKUP_FOLDER:?}" "${BACKUP_KEEP_DAYS:=14}"
write() {
  # In words: a program and its arguments.
  if [ -n "${TOLLHOUSE:-}" ]; then $TOLLHOUSE db backup "$1"; else pg_dump --format=custom --file "$1"; fi
}
while :; do
  file="$BACKUP_FOLDER/tollhouse-$(date -u +%Y%m%dT%H%M%SZ).dump"
  # Of one that failed nothing stays; whoever runs this begins it anew.
  write "$file.part" || { rm -f "$file.part"; exit 1; }
  # Whoever sees it under its name sees all of it.
  mv "$file.part" "$file"
  echo "written: $file"
  find "$BACKUP_FOLDER" -name 'tollhouse-*.dump' -mtime "+$BACKUP_KEEP_DAYS" -exec rm -- {} +
  [ -n "${BACKUP_EVERY_SECONDS:-}" ] || exit 0
  sleep "$BACKUP_EVERY_SECONDS" &
  wait $!
done
