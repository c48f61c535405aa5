// The certificate of the proxy, as the agent sends it.
import { createHash, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Logger } from '#base/log.ts'
import { TLS_SERVER } from '#base/tls-server.ts'
import { followAgent, type AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { CERTIFICATE_PATH } from '#databases/agent-socket/awake.ts'
import type { Pair } from '#node/certificate-pair.ts'

export type Certificate = {
  readonly context: SecureContext
  /** The binding data of tls-server-end-point. Source: RFC 5929, section 4.1. */
  readonly channel: Buffer
}

/** Throws what TLS says of a pair that it cannot use. */
export function openCertificate({ cert, key }: Pair): Certificate {
  const context = createSecureContext({ cert, key, ...TLS_SERVER })
  return { context, channel: channelOf(new X509Certificate(cert)) }
}

/**
 * Resolves with a function that returns the newest certificate. Where the agent is away the last one is served, and
 * the agent is asked again and again.
 */
export async function followCertificate(
  agent: AgentSocket,
  log: Logger,
  signal: AbortSignal,
): Promise<() => Certificate> {
  const first = Promise.withResolvers<void>()
  let newest: Certificate | undefined
  const take = (value: unknown) => {
    newest = openCertificate(value as Pair)
    first.resolve()
  }
  void followAgent(agent, { path: CERTIFICATE_PATH, begin: () => take }, { log, signal })
  await first.promise
  return () => newest as Certificate
}

/** The hash of the certificate by the hash of its signature; SHA-256 in the place of weaker ones. */
function channelOf(certificate: X509Certificate): Buffer {
  const algorithm = /sha(384|512)/i.exec(certificate.signatureAlgorithm ?? '')?.[1]
  return createHash(`sha${algorithm ?? '256'}`)
    .update(certificate.raw)
    .digest()
}
