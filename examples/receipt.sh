#!/bin/sh
# Fetches the receipt of the last request and checks its signature with openssl alone. What the steps
# mean is in docs/guide/receipts.md; `ergon receipt verify <file>` also checks the proof.
set -eu
base=${ERGON_BASE_URL:-http://localhost:8080}
authorization="Authorization: Bearer ${ERGON_TOKEN:?set ERGON_TOKEN}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

receipt=$(curl -sS "$base/v1/usage/last" -H "$authorization" |
  sed -n 's/.*"receipt_id":"\([^"]*\)".*/\1/p')
# 202 until the charge is sealed: about a second.
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  status=$(curl -sS -o "$folder/receipt" -w '%{http_code}' "$base/v1/receipts/$receipt" -H "$authorization")
  [ "$status" = 202 ] || break
  sleep 1
done
[ "$status" = 200 ] || { echo "no receipt of $receipt: status $status" >&2; exit 1; }
curl -sS "$base/.well-known/ergon/receipt-keys.json" -o "$folder/keys"

# The signed text is between the first blank line and the second.
awk 'NF == 0 { part++; next } part == 1' "$folder/receipt" >"$folder/checkpoint"
awk '/^— / { print $3; exit }' "$folder/receipt" | base64 -d | tail -c 64 >"$folder/signature"
origin=$(head -n 1 "$folder/checkpoint")
tr -d '\n' <"$folder/keys" | tr '{' '\n' | grep -F "\"$origin\"" |
  sed -n 's/.*"public_key_pem": *"\([^"]*\)".*/\1/p' | sed 's/\\n/\n/g' >"$folder/key.pem"

echo "$receipt in $origin, a log of $(sed -n 2p "$folder/checkpoint") charges"
openssl pkeyutl -verify -pubin -inkey "$folder/key.pem" -rawin \
  -in "$folder/checkpoint" -sigfile "$folder/signature"
sed -n 's/^extra //p' "$folder/receipt" | base64 -d | tail -c +9
echo
