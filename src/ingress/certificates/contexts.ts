// The certificates in the ingress, by the name that a client asks for.
import { createSecureContext, type SecureContext } from 'node:tls'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { TLS_SERVER } from '#base/tls-server.ts'
import { followAgent, type AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { CERTIFICATES_PATH, type AllLine, type CertificateLine } from './served.ts'

export interface CertificateContexts {
  /** That of the name, or of all names one level below its parent; undefined where there is none. */
  of(name: string): SecureContext | undefined
  take(line: CertificateLine): void
  /** Forgets those of other names. */
  keepOnly(hosts: ReadonlySet<string>): void
}

export function createContexts(log: Logger): CertificateContexts {
  const contexts = new Map<string, SecureContext>()
  return {
    of: (name) => contexts.get(name) ?? contexts.get(name.replace(/^[^.]+/, '*')),
    take({ host, pair }) {
      if (pair === null) return void contexts.delete(host)
      try {
        contexts.set(host, createSecureContext({ ...pair, ...TLS_SERVER }))
      } catch (error) {
        log.error('A certificate cannot be used', { host, error: messageOf(error) })
      }
    },
    keepOnly(hosts) {
      for (const host of contexts.keys()) if (!hosts.has(host)) contexts.delete(host)
    },
  }
}

/** Takes the certificates that the agent has, until the signal aborts. While the agent is away the last ones serve. */
export const followCertificates = (
  contexts: CertificateContexts,
  agent: AgentSocket,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> =>
  followAgent(
    agent,
    {
      path: CERTIFICATES_PATH,
      begin() {
        const hosts = new Set<string>()
        return (value) => {
          const line = value as CertificateLine | AllLine
          if ('areAll' in line) return contexts.keepOnly(hosts)
          hosts.add(line.host)
          contexts.take(line)
        }
      },
    },
    { log, signal },
  )
