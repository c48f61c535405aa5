#!/bin/sh
# curl against Ergon: the energy headers, a stream with its trailers, and what the last request cost.
set -eu
base=${ERGON_BASE_URL:-http://localhost:8080}
authorization="Authorization: Bearer ${ERGON_TOKEN:?set ERGON_TOKEN}"
json='Content-Type: application/json'
question='"model":"auto","max_tokens":32,"messages":[{"role":"user","content":"What is the capital of France?"}]'

echo '== an answer, with its figures in the headers'
curl -sS -D - "$base/v1/chat/completions" -H "$authorization" -H "$json" -d "{$question}"

echo
echo '== a stream: the ceiling in the head, the figures in the last chunk and in the trailers'
curl -sS -N -D - "$base/v1/chat/completions" -H "$authorization" -H "$json" \
  -d "{$question,\"stream\":true,\"stream_options\":{\"include_usage\":true}}"

echo '== the same figures, from the ledger'
curl -sS "$base/v1/usage/last" -H "$authorization"
echo
