# Starts TensorZero's gateway with the configuration of the first argument, prints its address, and ends with its parent.
import sys

import tensorzero

gateway = tensorzero._start_http_gateway(
    config_file=sys.argv[1],
    clickhouse_url=None,
    postgres_url=None,
    valkey_url=None,
    async_setup=False,
)
print(gateway.base_url, flush=True)
sys.stdin.read()
gateway.close()
