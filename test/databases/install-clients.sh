#!/bin/sh
# Installs the database clients that are neither packages of the product nor programs of Debian, and the SQL suite of
# pgvector, below .cache/.
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

# pgvector's SQL suite is in its source package alone. The mirror is the machine's own, whose settings stay as they are.
suite=$(cd "$folder" && pwd)/pgvector
apt="$suite/apt"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 2> /dev/null | grep -v security | head -n 1)
if [ -z "$mirror" ]; then
  echo 'No Debian mirror here: the SQL suite of pgvector is skipped' >&2
  exit 0
fi
rm -rf "$suite"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/source"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" > "$apt/sources.list"
own() {
  apt-get -q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root "$@"
}
own update > /dev/null
(cd "$apt/source" && own source --download-only pgvector > /dev/null)
tar xzf "$apt/source"/pgvector_*.orig.tar.gz -C "$suite" --strip-components=1 --wildcards '*/test/sql' '*/test/expected'
rm -rf "$apt"
