// The agent's side of awake.ts: proxies ask on a unix socket, with the secret that they were started with.
import { timingSafeEqual } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Logger } from '#base/log.ts'
import { serveUnix, type UnixServer } from '#base/unix-server.ts'
import type { Resource } from '#resources/reconciler.ts'
import type { State } from '#state/connect.ts'
import { SECRET_HEADER, type AwakeLine } from './awake.ts'
import { STOPPED, type FatalError } from './proxy/wire.ts'
import type { Servers } from './servers.ts'

export interface AwakeServer {
  /** Ends the sessions of a database with words: those of these backends, or all. */
  cut(id: string, fatal: FatalError, pids?: readonly number[]): void
  /** The warning that sessions begin with from now on; undefined for none. */
  warn(id: string, warning: FatalError | undefined): void
  close(): Promise<void>
}

const STARTING: FatalError = {
  code: '57P03',
  message: 'the database system is starting up',
  hint: 'Try again in a few seconds.',
}
/** The answer to clients whose account cannot pay. */
export const UNPAID: FatalError = {
  code: '53400',
  message: 'the account of this database cannot pay for its energy',
  hint: 'Add funds to the account, or wait until its free energy is renewed at 00:00 UTC.',
}

export async function serveAwake(deps: {
  readonly socket: string
  readonly secret: string
  readonly state: State
  readonly servers: Servers
  readonly log: Logger
}): Promise<AwakeServer> {
  const { socket, secret, state, servers, log } = deps
  const uses = new Map<string, Set<ServerResponse>>()
  const say = (response: ServerResponse, line: AwakeLine) =>
    void response.write(`${JSON.stringify(line)}\n`)

  const warnings = new Map<string, FatalError>()
  const cut: AwakeServer['cut'] = (id, fatal, pids) => {
    for (const response of uses.get(id) ?? [])
      if (pids === undefined) response.end(`${JSON.stringify({ fatal })}\n`)
      else say(response, { fatal, pids })
  }

  async function answer(id: string, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    response.writeHead(200)
    const refuse = (fatal: FatalError) => response.end(`${JSON.stringify({ fatal })}\n`)
    const database = await deployed(state, id)
    if (database === undefined) return void refuse(STARTING)
    if (!database.can_pay) return void refuse(UNPAID)
    try {
      const use = await servers.use(database, gone.signal)
      if (gone.signal.aborted) return use.release()
      const all = uses.get(id) ?? new Set()
      uses.set(id, all.add(response))
      response.once('close', () => {
        use.release()
        all.delete(response)
        if (all.size === 0 && uses.get(id) === all) uses.delete(id)
      })
      say(response, { socketPath: use.socketPath, warning: warnings.get(id) ?? null })
    } catch (error) {
      if (gone.signal.aborted) return
      log.error('The server of a database did not start', { id, error })
      refuse(STARTING)
    }
  }

  // Everybody may connect where cells have uids of their own; the secret identifies the proxy.
  const server: UnixServer = await serveUnix({ socket, mode: 0o666 }, (request, response) => {
    if (!isSame(String(request.headers[SECRET_HEADER] ?? ''), secret)) {
      response.writeHead(403).end()
      return
    }
    answer((request.url ?? '').slice(1), response).catch((error: unknown) => {
      log.error('A proxy got no answer', { error })
      response.destroy()
    })
  })
  return {
    cut,
    warn(id, warning) {
      if (warning === undefined) warnings.delete(id)
      else warnings.set(id, warning)
      for (const response of uses.get(id) ?? []) say(response, { warning: warning ?? null })
    },
    async close() {
      for (const id of uses.keys()) cut(id, STOPPED)
      await server.close()
    },
  }
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

async function deployed(state: State, id: string) {
  const { rows } = await state.query<Resource & { can_pay: boolean }>(
    `select id, account, name, account_can_pay(account) as can_pay from resources
     where id = $1 and kind = 'database' and actual = 'deployed' and desired = 'deployed'`,
    [id],
  )
  return rows[0]
}
