#!/bin/sh
# Writes a dump of the database (PGHOST, PGUSER, …) into BACKUP_FOLDER, now and every BACKUP_EVERY_SECONDS, and removes those that
# are older than BACKUP_KEEP_DAYS. Without BACKUP_EVERY_SECONDS it writes one, and ends.
set -eu
trap 'kill "${!:-}" 2>/dev/null; exit 0' TERM INT
# The books hold secrets of webhooks and upstreams.
umask 077
: "${BACKUP_FOLDER:?}" "${BACKUP_KEEP_DAYS:=14}"
while :; do
  file="$BACKUP_FOLDER/tollhouse-$(date -u +%Y%m%dT%H%M%SZ).dump"
  # Of one that failed nothing stays; whoever runs this begins it anew.
  pg_dump --format=custom --file "$file.part" || { rm -f "$file.part"; exit 1; }
  # Whoever sees it under its name sees all of it.
  mv "$file.part" "$file"
  echo "written: $file"
  find "$BACKUP_FOLDER" -name 'tollhouse-*.dump' -mtime "+$BACKUP_KEEP_DAYS" -exec rm -- {} +
  [ -n "${BACKUP_EVERY_SECONDS:-}" ] || exit 0
  sleep "$BACKUP_EVERY_SECONDS" &
  wait $!
done
