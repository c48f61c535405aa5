#!/bin/sh
# Pays into the balance by a test card, then adds up the ledger: the sum of its postings is the balance. Needs a token of
# scope billing-admin, and a service that was started with --test-processor-port: no funds move.
set -eu
base=${ERGON_BASE_URL:-http://localhost:8080}
ask() {
  curl -sS "$@" -H "Authorization: Bearer ${ERGON_TOKEN:?set ERGON_TOKEN}"
}
post() {
  ask "$base$1" -H 'Content-Type: application/json' -d "$2"
}
field() {
  sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}
# Asks for a page until it has a word.
wait_for() {
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    ask "$base$1" | grep -q "$2" && return
    sleep 1
  done
  echo "no $2 at $1" >&2
  exit 1
}

card=$(post /v1/payment-methods '{"type":"card","token":"pm_card_visa"}' | field id)
echo "card: $card"
wait_for /v1/payment-methods '"status":"active"'

payment=$(post /v1/topups '{"amount":"20.00"}' | field id)
wait_for "/v1/topups/$payment" '"status":"captured"'
echo "paid: $payment"

# The postings of one moment; each read is charged, too.
cursor=
while page=$(ask "$base/v1/ledger?limit=1000${cursor:+&cursor=$cursor}"); do
  echo "$page" | tr '{' '\n' | sed -n 's/.*"amount_pusd":"\(-*[0-9]*\)".*/\1/p'
  cursor=$(echo "$page" | field next_cursor)
  [ -n "$cursor" ] || break
done |
  awk '{ sum += $1 } END { printf "sum of the ledger: %.0f pUSD\n", sum }'
ask "$base/v1/ledger?limit=5" -H 'Accept: text/csv'
