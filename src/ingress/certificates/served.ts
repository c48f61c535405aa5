// The certificates of routes in the agent: files of folders, looked at again and again. The agent reads the keys and sends
// them to the ingress on the agent's socket, so the user of the ingress needs no access to files.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { OpenRequest } from '#node/agent-socket/serve-agent.ts'
import { readPair, traceOfPair, type CertificateFiles, type Pair } from '#node/certificate-pair.ts'
import { raiseAlarm } from '#state/alarms.ts'
import type { State } from '#state/connect.ts'

/** The path of the answer with all certificates. */
export const CERTIFICATES_PATH = '/certificates'

/** A certificate of a name, and the end of one: its files are gone. `*.example.com` is for the names one level below. */
export type CertificateLine = { readonly host: string; readonly pair: Pair | null }

/** Follows the certificates of now: there are no others, and the agent is here where there are none. */
export type AllLine = { readonly areAll: true }

type CertificatesRequest = OpenRequest<CertificateLine | AllLine>

export interface ServedCertificates {
  /** Looks at the files. */
  look(): Promise<void>
  /** Answers with the certificates of now, and each change, until the request ends. */
  follow(request: CertificatesRequest): void
  /** Looks again and again until the signal aborts. Never rejects. */
  watch(signal: AbortSignal): Promise<void>
}

const LOOK_MS = 5000
const CERTIFICATES_MAX = 10_000
const CERT = '.crt'

type ServedPair = { readonly trace: string; readonly pair: Pair }

export function createServedCertificates({
  folders,
  state,
  log,
  certificatesMax = CERTIFICATES_MAX,
}: {
  readonly folders: readonly string[]
  readonly state: State
  readonly log: Logger
  /** The most certificates that a folder may have. */
  readonly certificatesMax?: number
}): ServedCertificates {
  const served = new Map<string, ServedPair>()
  const followers = new Set<CertificatesRequest>()
  const tell = (line: CertificateLine) => {
    for (const request of followers) request.say(line)
  }
  const take = async (host: string, files: CertificateFiles): Promise<void> => {
    const trace = traceOfPair(files)
    if (served.get(host)?.trace === trace) return
    try {
      const pair = readPair(files)
      served.set(host, { trace, pair })
      tell({ host, pair })
    } catch (error) {
      const detail = { ...files, reason: messageOf(error) }
      if (await raiseAlarm(state, 'route_certificate_refused', detail, { key: `${host} ${trace}` }))
        log.error('A certificate of routes is not changed: its files cannot be used', detail)
    }
  }
  const look = async (): Promise<void> => {
    const found = new Map(folders.flatMap((folder) => filesOf(folder, certificatesMax)))
    for (const [host, files] of found) await take(host, files)
    for (const host of served.keys())
      if (!found.has(host)) {
        served.delete(host)
        tell({ host, pair: null })
      }
  }
  const unseen = async (error: unknown): Promise<void> => {
    const detail = { folders, reason: messageOf(error) }
    const key = detail.reason
    const isNew = await raiseAlarm(state, 'route_certificate_refused', detail, { key }).catch(
      () => true,
    )
    if (isNew) log.error('Certificates of routes are as they were: a folder is not used', detail)
  }
  return {
    look,
    follow(request) {
      followers.add(request)
      request.whenEnded(() => followers.delete(request))
      for (const [host, { pair }] of served) request.say({ host, pair })
      request.say({ areAll: true })
    },
    async watch(signal) {
      while (!signal.aborted) {
        await look().catch(unseen)
        await sleep(LOOK_MS, signal).catch(() => undefined)
      }
    },
  }
}

/** The names of a folder with their files. Throws for more than there may be. */
function filesOf(folder: string, most: number): [string, CertificateFiles][] {
  const names = readdirSync(folder).filter((name) => name.endsWith(CERT))
  if (names.length > most)
    throw new RangeError(`${folder} has ${names.length} certificates: the most is ${most}`)
  return names.map((name) => {
    const stem = name.slice(0, -CERT.length)
    const files = { cert: join(folder, name), key: join(folder, `${stem}.key`) }
    return [stem.toLowerCase().replace(/^_\./, '*.'), files]
  })
}
