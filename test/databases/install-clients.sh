#!/bin/sh
# Installs the database clients that are neither packages of the product nor programs of Debian, below .cache/.
# Tests of absent clients are skipped and name this file.
set -eu
folder="$(dirname "$0")/../../.cache/database-clients"
mkdir -p "$folder"
python3 -m pip install --quiet --disable-pip-version-check --upgrade --target "$folder/python" \
  'psycopg[binary]==3.3.9' 'sqlalchemy==2.1.9'
# The command line of Prisma 6 migrates by WebAssembly; that of 7 downloads its engine from a host of its own. The
# adapter of 6 cannot read the type "name".
npm install --prefix "$folder" --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error \
  'prisma@6.19.3' '@prisma/adapter-pg@7.10.1'
