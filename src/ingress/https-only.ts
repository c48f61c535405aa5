// Names whose certificate makes HTTPS the only way: plain requests are sent there, and browsers remember.
import type { CertificateContexts } from './certificates/contexts.ts'
import {
  hostOfRequest,
  isEncrypted,
  type IngressRequest,
  type IngressResponse,
} from './exchange.ts'

export type Https = {
  /** Undefined: no TLS. */
  readonly port: number | undefined
  readonly isOnly: boolean
  readonly contexts: Pick<CertificateContexts, 'of'>
}

/** A year. */
const REMEMBERED_S = 31_536_000
const HTTPS_PORT = 443

/** Headers of each answer by TLS. */
export const strictHeaders = (
  request: IngressRequest,
  https: Https | undefined,
): Record<string, string> =>
  https?.isOnly === true && isEncrypted(request)
    ? { 'strict-transport-security': `max-age=${REMEMBERED_S}` }
    : {}

/** Answers a plain request for a name with a certificate; false where it is to be answered as it is. */
export function redirected(
  request: IngressRequest,
  response: IngressResponse,
  https: Https | undefined,
): boolean {
  if (https?.isOnly !== true || https.port === undefined || isEncrypted(request)) return false
  const name = hostOfRequest(request).toLowerCase().replace(/:\d+$/, '')
  if (https.contexts.of(name) === undefined) return false
  const port = https.port === HTTPS_PORT ? '' : `:${https.port}`
  response.writeHead(308, {
    location: `https://${name}${port}${request.url ?? '/'}`,
    'content-length': 0,
  })
  response.end()
  return true
}
