// The certificate that the proxies serve: the operator's files, looked at again and again, or one of the node's own. The
// agent reads the key and sends it to the proxies on their socket to the agent, so their user needs no access to files.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { raiseAlarm } from '#state/alarms.ts'
import type { State } from '#state/connect.ts'
import type { OpenRequest } from '#node/agent-socket/serve-agent.ts'
import { readPair, traceOfPair, type CertificateFiles, type Pair } from '#node/certificate-pair.ts'
import { selfSigned } from './self-signed.ts'

export interface ServedCertificate {
  /** Finds or makes the certificate, and tells the state. Throws settings_invalid for the operator's files. */
  open(): Promise<void>
  /** Answers with the certificate now and after each change, a line each, until the request ends. */
  follow(request: OpenRequest<Pair>): void
  /** Looks at the operator's files until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>
}

const LOOK_MS = 5000

export function createServedCertificate(deps: {
  /** Where a certificate of the node's own is. */
  readonly folder: string
  /** The host name of the database endpoint. */
  readonly host: string
  /** The operator's files. */
  readonly own: CertificateFiles | undefined
  readonly state: State
  readonly log: Logger
}): ServedCertificate {
  const { folder, host, own, state, log } = deps
  const followers = new Set<OpenRequest<Pair>>()
  let served: Pair | undefined
  let seen = ''

  const serve = async (pair: Pair): Promise<void> => {
    await state.query(
      `insert into database_endpoints (host, certificate, is_self_signed) values ($1, $2, $3)
       on conflict (host) do update set certificate = excluded.certificate,
         is_self_signed = excluded.is_self_signed`,
      [host, pair.cert, own === undefined],
    )
    served = pair
    for (const request of followers) request.say(pair)
  }
  const look = async (files: CertificateFiles): Promise<void> => {
    const now = traceOfPair(files)
    if (now === seen) return
    try {
      const pair = readPair(files)
      if (pair.cert !== served?.cert || pair.key !== served.key) await serve(pair)
      seen = now
    } catch (error) {
      const reason = messageOf(error)
      const detail = { cert: files.cert, key: files.key, reason }
      const once = { key: `${files.cert} ${reason}` }
      if (await raiseAlarm(state, 'database_certificate_refused', detail, once))
        log.error('The certificate of databases is not changed: its files cannot be used', detail)
    }
  }
  return {
    async open() {
      if (own === undefined) return await serve(readPair(await selfSigned(folder, host)))
      try {
        seen = traceOfPair(own)
        await serve(readPair(own))
      } catch (cause) {
        throw fault('settings_invalid', `Could not use ${own.cert}: ${messageOf(cause)}`, { cause })
      }
    },
    follow(request) {
      followers.add(request)
      request.whenEnded(() => followers.delete(request))
      if (served !== undefined) request.say(served)
    },
    async watch(signal) {
      while (own !== undefined && !signal.aborted) {
        await sleep(LOOK_MS, signal).catch(() => undefined)
        if (!signal.aborted)
          await look(own).catch((error: unknown) =>
            log.warn('The certificate of databases is not looked at', { error: messageOf(error) }),
          )
      }
    },
  }
}
