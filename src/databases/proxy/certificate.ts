// The certificate of the proxy, as the agent sends it.
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createSecureContext, type SecureContext } from 'node:tls'
import { sleep } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import { request } from '#base/node-http.ts'
import { CERTIFICATE_PATH, SECRET_HEADER } from '#databases/agent-socket/awake.ts'
import type { Pair } from '#databases/certificate/pair.ts'
import { onLines } from '#databases/agent-socket/json-lines.ts'

export type Certificate = {
  readonly context: SecureContext
  /** The binding data of tls-server-end-point. Source: RFC 5929, section 4.1. */
  readonly channel: Buffer
}

const RETRY_MS = 1000

/** Throws what TLS says of a pair that it cannot use. */
export function openCertificate({ cert, key }: Pair): Certificate {
  const context = createSecureContext({ cert, key, minVersion: 'TLSv1.2' })
  return { context, channel: channelOf(new X509Certificate(cert)) }
}

/**
 * Resolves with a function that returns the newest certificate. Where the agent is away the last one is served, and
 * the agent is asked again and again.
 */
export async function followCertificate(
  agent: { readonly socketPath: string; readonly secret: string },
  log: Logger,
): Promise<() => Certificate> {
  const first = Promise.withResolvers<void>()
  let newest: Certificate | undefined
  const take = (value: unknown) => {
    newest = openCertificate(value as Pair)
    first.resolve()
  }
  const follow = async (): Promise<never> => {
    for (;;) {
      await readLines(agent, take).catch((error: unknown) =>
        log.debug('The agent sends no certificate', { error: String(error) }),
      )
      await sleep(RETRY_MS)
    }
  }
  void follow()
  await first.promise
  return () => newest as Certificate
}

/** Resolves when the agent ends the answer. */
async function readLines(
  { socketPath, secret }: { readonly socketPath: string; readonly secret: string },
  take: (value: unknown) => void,
): Promise<void> {
  const headers = { [SECRET_HEADER]: secret }
  const sent = request({ socketPath, path: CERTIFICATE_PATH, agent: false, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  onLines(response, take)
  await once(response, 'close')
}

/** The hash of the certificate by the hash of its signature; SHA-256 in the place of weaker ones. */
function channelOf(certificate: X509Certificate): Buffer {
  const algorithm = /sha(384|512)/i.exec(certificate.signatureAlgorithm ?? '')?.[1]
  return createHash(`sha${algorithm ?? '256'}`)
    .update(certificate.raw)
    .digest()
}
