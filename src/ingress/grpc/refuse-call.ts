// A refusal as clients of gRPC read it: a status with its message, and HTTP's own is 200.
import type { ErgonError } from '#base/errors.ts'
import { advised } from '#contract/errors.ts'
import type { IngressResponse } from '#ingress/exchange.ts'

const UNKNOWN = 2
const UNAVAILABLE = 14
/** As clients take the statuses of HTTP that have no status of gRPC (grpc.io, http-grpc-status-mapping), and ours. */
const STATUSES: Readonly<Record<number, number>> = {
  400: 13,
  402: 8,
  403: 7,
  404: 12,
  413: 8,
  429: UNAVAILABLE,
  502: UNAVAILABLE,
  503: UNAVAILABLE,
  504: 4,
}

/** In one frame ("Trailers-Only"). */
export function refuseCall(
  response: IngressResponse,
  error: ErgonError,
  headers: Readonly<Record<string, string>>,
): void {
  const sent = {
    ...headers,
    'content-type': 'application/grpc',
    'grpc-status': String(STATUSES[error.status] ?? UNKNOWN),
    // The text may have any character, so it is percent-encoded.
    'grpc-message': encodeURIComponent(advised(error)),
  }
  response.statusCode = 200
  for (const [name, value] of Object.entries(sent)) response.setHeader(name, value)
  response.end()
}
