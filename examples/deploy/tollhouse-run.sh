#!/bin/sh
# Runs a command of `tollhouse` beside tollhouse.service, for root: as its user, with its variables and its key, which that user cannot
# read by itself. Properties are those of the unit: what is changed there (another credential) is changed here.
set -eu
if [ -z "${CREDENTIALS_DIRECTORY:-}" ]; then
  exec systemd-run --quiet --collect --wait --pipe \
    --property=User=tollhouse \
    --property=Group=tollhouse \
    --property=WorkingDirectory=/opt/tollhouse \
    --property=UMask=0077 \
    --property=StateDirectory=tollhouse \
    --property=StateDirectoryMode=0700 \
    --property=EnvironmentFile=/etc/tollhouse/.env \
    --property=LoadCredential=fee-payer:/etc/tollhouse/fee-payer.json \
    --setenv=NODE_ENV=production \
    --setenv=DATABASE_URL=sqlite:/var/lib/tollhouse/tollhouse.db \
    -- "$(readlink -f "$0")" "$@"
fi
: "${FACILITATOR_KEYPAIR:=$CREDENTIALS_DIRECTORY/fee-payer}"
export FACILITATOR_KEYPAIR
exec node dist/cli.js "$@"
