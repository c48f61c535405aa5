// The agent's side of awake.ts: proxies ask on a unix socket, with the secret that they were started with.
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '#base/log.ts'
import { serveUnix, type UnixServer } from '#base/unix-server.ts'
import { NotWanted } from '#resources/instances.ts'
import type { Resource } from '#resources/resource.ts'
import type { State } from '#state/connect.ts'
import type { ServedCertificate } from '#databases/certificate/served.ts'
import {
  BACKUPS_PATH,
  CERTIFICATE_PATH,
  RUNNING_PATH,
  SECRET_HEADER,
  type AwakeLine,
  type ProxyLine,
} from './awake.ts'
import { onLines } from './json-lines.ts'
import { energyWords } from './energy-words.ts'
import { STOPPED, type FatalError } from '#databases/proxy/wire.ts'
import { createRunning } from './running.ts'
import type { Servers } from '#databases/server/servers.ts'
import { createSessionShares, type Holder, type SessionShares } from './session-shares.ts'

export interface AwakeServer {
  /** Ends the sessions of a database with words: those of these backends, or all. */
  cut(id: string, fatal: FatalError, pids?: readonly number[]): void
  /** Every request for a database is refused with words until it is undefined. */
  refuse(id: string, fatal: FatalError | undefined): void
  /** The logins of a database that may have sessions from now on: sessions of others end. */
  keep(id: string, logins: readonly string[]): void
  /** The warning that sessions begin with from now on; undefined for none. */
  warn(id: string, warning: FatalError | undefined): void
  /** Tells the process of backups which servers run. */
  tellRunning(ids: readonly string[]): void
  close(): Promise<void>
}

const STARTING: FatalError = {
  code: '57P03',
  message: 'the database system is starting up',
  hint: 'Try again in a few seconds.',
}
const NOT_STARTED = 'The server of a database did not start'

/** The proxies that use a database: each has an open request. */
type Used = { readonly responses: Set<ServerResponse>; readonly shares: SessionShares }

export type AwakeDeps = {
  readonly proxies: number
  readonly socket: string
  readonly secret: string
  readonly state: State
  readonly servers: Servers
  readonly certificate: Pick<ServedCertificate, 'follow'>
  readonly log: Logger
}

export async function serveAwake(deps: AwakeDeps): Promise<AwakeServer> {
  const { proxies, socket, secret, state, servers, log } = deps
  const uses = new Map<string, Used>()
  const running = createRunning()
  const warnings = new Map<string, FatalError>()
  const refusals = new Map<string, FatalError>()
  const tell = (id: string, line: AwakeLine) =>
    uses.get(id)?.responses.forEach((to) => say(to, line))
  const cut: AwakeServer['cut'] = (id, fatal, pids) => {
    for (const response of uses.get(id)?.responses ?? [])
      if (pids === undefined) end(response, fatal)
      else say(response, { fatal, pids })
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const id = path.slice(path.lastIndexOf('/') + 1)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    response.writeHead(200)
    const database = await deployed(state, id)
    if (database === undefined) return end(response, STARTING)
    try {
      const use = await servers.use(database, gone.signal)
      const refusal = refusals.get(id)
      if (refusal !== undefined || gone.signal.aborted) {
        use.release()
        return end(response, refusal ?? STARTING)
      }
      response.once('close', () => use.release())
      const used = usedOf(uses, id, proxies)
      const unused = () => void (uses.get(id) === used && uses.delete(id))
      // Backups have no sessions.
      if (path.startsWith(BACKUPS_PATH)) hold(used, response, unused)
      else join(used, { request, response }, unused)
      const warning = warnings.get(id) ?? null
      say(response, { socketPath: use.socketPath, warning, logins: database.logins })
    } catch (error) {
      if (gone.signal.aborted) return
      const words = refusalOf(error)
      if (words === undefined) log.error(NOT_STARTED, { id, error })
      end(response, words ?? STARTING)
    }
  }

  // Everybody may connect where cells have uids of their own; the secret identifies the proxy.
  // A request lasts as long as its database is in use.
  const options = { socket, mode: 0o666, requestTimeoutMs: 0 }
  const server: UnixServer = await serveUnix(options, (request, response) => {
    request.on('error', () => undefined)
    if (!isSame(String(request.headers[SECRET_HEADER] ?? ''), secret))
      return void response.writeHead(403).end()
    if (request.url === RUNNING_PATH) return running.follow(response)
    if (request.url === CERTIFICATE_PATH) return deps.certificate.follow(response)
    answer(request, response).catch((error: unknown) => {
      log.error('A proxy got no answer', { error })
      response.destroy()
    })
  })
  return {
    cut,
    refuse: (id, fatal) => setOrDelete(refusals, id, fatal),
    keep: (id, logins) => tell(id, { logins }),
    tellRunning: running.tell,
    warn(id, warning) {
      setOrDelete(warnings, id, warning)
      tell(id, { warning: warning ?? null })
    },
    async close() {
      for (const id of uses.keys()) cut(id, STOPPED)
      await server.close()
    },
  }
}

function usedOf(uses: Map<string, Used>, id: string, proxies: number): Used {
  const used = uses.get(id) ?? { responses: new Set(), shares: createSessionShares(proxies) }
  uses.set(id, used)
  return used
}

const setOrDelete = (map: Map<string, FatalError>, id: string, fatal: FatalError | undefined) =>
  void (fatal === undefined ? map.delete(id) : map.set(id, fatal))

/** The words for an error that is no fault here. */
const refusalOf = (error: unknown): FatalError | undefined =>
  energyWords(error) ?? (error instanceof NotWanted ? STARTING : undefined)

const end = (response: ServerResponse, fatal: FatalError) =>
  void response.end(`${JSON.stringify({ fatal })}\n`)

const say = (response: ServerResponse, line: AwakeLine) =>
  void response.write(`${JSON.stringify(line)}\n`)

/** Gives a proxy a share of the sessions until its request ends; calls back at the end of the last one. */
function join(
  used: Used,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  unused: () => void,
): void {
  const { shares } = used
  const holder: Holder = {
    tell: (sessions) => say(response, { sessions }),
    recall: () => say(response, { recall: true }),
  }
  shares.join(holder)
  onLines(request, (value) => {
    const line = value as ProxyLine
    if ('more' in line) void shares.more(holder)
    else shares.giveBack(holder, line.unused)
  })
  response.once('close', () => shares.leave(holder))
  hold(used, response, unused)
}

function hold({ responses }: Used, response: ServerResponse, unused: () => void): void {
  responses.add(response)
  response.once('close', () => {
    responses.delete(response)
    if (responses.size === 0) unused()
  })
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

async function deployed(state: State, id: string) {
  const { rows } = await state.query<Resource & { logins: string[] }>(
    `select id, account, name,
       array(select r.name from database_roles r where r.database = id) as logins
     from resources
     where id = $1 and kind = 'database' and actual = 'deployed' and desired = 'deployed'`,
    [id],
  )
  return rows[0]
}
