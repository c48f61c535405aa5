#!/bin/sh
# Checks the manifest of this pack and its signature with openssl and coreutils: sh verify.sh [receipt-keys.json]
# It does not look into the receipts: node verify.mjs does.
set -eu
fail() { echo "FAIL $*"; exit 1; }
kept=${1:-}
[ -z "$kept" ] || kept=$(realpath "$kept")
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
keys=${kept:-receipt-keys.json}
proof=manifest.tlog-proof

# Each file is as the manifest has it, and no other file is here.
sha256sum --check --strict --quiet manifest.sha256 || fail 'a file is not as manifest.sha256 has it'
sed 's/^[0-9a-f]*  //' manifest.sha256 | sort > "$tmp/listed"
find . ! -type d ! -name manifest.sha256 ! -name $proof | sed 's|^\./||' | sort > "$tmp/found"
cmp -s "$tmp/listed" "$tmp/found" || fail "not in manifest.sha256: $(comm -13 "$tmp/listed" "$tmp/found" | head -n 1)"
echo 'ok   manifest'

# The signed text: what follows the first blank line, up to the second. The signature without its 4 bytes of key id.
awk 'NF == 0 { part++; next } part == 1' $proof > "$tmp/checkpoint"
awk '/^— / { print $3; exit }' $proof | base64 -d | tail -c 64 > "$tmp/signature"
origin=$(head -n 1 "$tmp/checkpoint")
# A later shard of a log has the same key: `ergon-<hex>/2026` after `ergon-<hex>/2025`.
tr -d '\n' < "$keys" | tr '{' '\n' | sed 's/": *"/":"/g' | grep -F "\"origin\":\"${origin%/*}/" |
  sed -n 's/.*"public_key_pem":"\([^"]*\)".*/\1/p' | head -n 1 | sed 's/\\n/\n/g' > "$tmp/key.pem"
[ -s "$tmp/key.pem" ] || fail "$proof: the kept keys do not know this log: use verify.mjs"
openssl pkeyutl -verify -pubin -inkey "$tmp/key.pem" -rawin -in "$tmp/checkpoint" -sigfile "$tmp/signature" \
  > /dev/null 2>&1 || fail "$proof: its checkpoint is not signed by the key of $origin"
echo "ok   signature of $origin"

# The charge that is in the log names the manifest.
sed -n 's/^extra //p' $proof | base64 -d > "$tmp/extra"
tail -c +9 "$tmp/extra" > "$tmp/charge"
wanted=$(sha256sum manifest.sha256 | cut -c 1-64)
grep -qF "\"subject_sha256\":\"$wanted\"" "$tmp/charge" || fail 'manifest.sha256: the receipt names another one'
{ printf '\000'; openssl dgst -sha256 -binary "$tmp/charge"; head -c 8 "$tmp/extra"; } |
  openssl dgst -sha256 -binary > "$tmp/hash"

# The leaf leads to the signed tree head (RFC 9162, 2.1.3.2).
first=$(sed -n 's/^index //p' $proof)
last=$(($(sed -n 2p "$tmp/checkpoint") - 1))
awk 'NF == 0 { exit } NR > 3' $proof > "$tmp/proof"
while read -r sibling; do
  echo "$sibling" | base64 -d > "$tmp/sibling"
  if [ $((first % 2)) -eq 1 ] || [ "$first" -eq "$last" ]; then
    { printf '\001'; cat "$tmp/sibling" "$tmp/hash"; } > "$tmp/pair"
    while [ $((first % 2)) -eq 0 ] && [ "$first" -gt 0 ]; do first=$((first / 2)); last=$((last / 2)); done
  else
    { printf '\001'; cat "$tmp/hash" "$tmp/sibling"; } > "$tmp/pair"
  fi
  openssl dgst -sha256 -binary "$tmp/pair" > "$tmp/hash"
  first=$((first / 2)); last=$((last / 2))
done < "$tmp/proof"
[ "$last" -eq 0 ] && [ "$(base64 -w 0 < "$tmp/hash")" = "$(sed -n 3p "$tmp/checkpoint")" ] ||
  fail "$proof: the charge is not in the log"
echo 'ok   the manifest is in the log'
[ -n "$kept" ] || echo "The key is that of this pack. Compare it with one that you kept: sh verify.sh receipt-keys.json"
