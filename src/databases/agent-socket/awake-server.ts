// The agent's side of awake.ts: proxies ask on a unix socket, with the secret that they were started with. Warnings and
// refusals may be set before the socket is open.
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { NotWanted } from '#resources/instances.ts'
import type { HeldFor, Resource } from '#resources/resource.ts'
import type { State } from '#state/connect.ts'
import type { ServedCertificate } from '#databases/certificate/served.ts'
import { readMadeLogins } from '#databases/logins/made-logins.ts'
import { STOPPED, type FatalError } from '#wire/messages.ts'
import type { Servers } from '#databases/server/servers.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { serveAgent, type AgentServer, type OpenRequest } from '#node/agent-socket/serve-agent.ts'
import {
  BACKUPS_PATH,
  CERTIFICATE_PATH,
  LOGIN_PARAMETER,
  RUNNING_PATH,
  type AwakeLine,
} from './awake.ts'
import { energyWords } from './energy-words.ts'
import { createRunning, type RunningServers } from './running.ts'
import { notStartingWords, STARTING, suspendedWords } from './state-words.ts'
import { createUsedDatabases, type UsedDatabases } from './used-databases.ts'
import { createWarnings, type Warnings } from './warnings.ts'

export interface AwakeServer {
  /** Answers from now on. */
  listen(agent: AgentSocket, asked: AskedParts): Promise<void>
  /** Ends the sessions of a database with words: those of these backends, or all. */
  readonly cut: UsedDatabases['cut']
  /** Every request for a database is refused with words until it is undefined. */
  refuse(id: string, fatal: FatalError | undefined): void
  /** The logins of a database that may have sessions from now on: sessions of others end. */
  keep(id: string, logins: readonly string[]): void
  /** The warnings that sessions begin with. */
  readonly warnings: Warnings
  /** The servers that run, for the process of backups. */
  readonly running: Pick<RunningServers, 'tell'>
  close(): Promise<void>
}

/** The parts that answer. */
export type AskedParts = {
  readonly servers: Pick<Servers, 'use'>
  readonly certificate: Pick<ServedCertificate, 'follow'>
}

export type AwakeDeps = {
  /** The number of proxies. */
  readonly proxies: number
  readonly state: Pick<State, 'query'>
  readonly log: Logger
}

export function createAwakeServer(deps: AwakeDeps): AwakeServer {
  const used = createUsedDatabases(deps.proxies)
  const running = createRunning()
  const refusals = new Map<string, FatalError>()
  const warnings = createWarnings((id) => used.tell(id, { warning: warnings.of(id) ?? null }))
  let server: AgentServer | undefined
  return {
    async listen(agent, asked) {
      const answer = answerOf({ ...deps, ...asked, used, refusals, warnings })
      server = await serveAgent(agent, (request) => {
        if (request.path === RUNNING_PATH) return running.follow(request)
        if (request.path === CERTIFICATE_PATH) return asked.certificate.follow(request)
        answer(request).catch((error: unknown) => {
          deps.log.error('A proxy got no answer', { error })
          request.destroy()
        })
      })
    },
    cut: used.cut,
    refuse: (id, fatal) => void (fatal ? refusals.set(id, fatal) : refusals.delete(id)),
    keep: used.keep,
    warnings,
    running,
    async close() {
      await used.cutAll(STOPPED)
      await server?.close()
    },
  }
}

type AnswerDeps = AwakeDeps &
  AskedParts & {
    readonly used: UsedDatabases
    readonly refusals: ReadonlyMap<string, FatalError>
    readonly warnings: Warnings
  }

/** Answers for one database: its server runs until the request ends. */
const answerOf =
  (deps: AnswerDeps) =>
  async (request: OpenRequest<AwakeLine>): Promise<void> => {
    const { state, servers, used, refusals, warnings, log } = deps
    const { pathname: path, searchParams } = new URL(request.path, 'http://agent')
    const isBackup = path.startsWith(BACKUPS_PATH)
    const id = path.slice(path.lastIndexOf('/') + 1)
    const gone = new AbortController()
    request.whenEnded(() => gone.abort())
    const database = await readDatabase(state, id, searchParams.get(LOGIN_PARAMETER))
    if (database?.isWanted !== true) return request.end({ fatal: unwantedWords(database) })
    try {
      const use = await servers.use(
        database,
        isBackup ? { cause: 'backup' } : { cause: 'connection', role: database.label ?? undefined },
        gone.signal,
      )
      const refusal = refusals.get(id)
      if (refusal !== undefined || gone.signal.aborted) {
        use.release()
        return request.end({ fatal: refusal ?? STARTING })
      }
      request.whenEnded(() => use.release())
      if (isBackup) used.hold(id, request)
      else used.join(id, request)
      // Behind join(): no change of the logins is missed.
      const logins = await used.newestLogins(id, () => readMadeLogins(state, id))
      const warning = warnings.of(id) ?? null
      request.say({ socketPath: use.socketPath, warning, logins })
    } catch (error) {
      if (gone.signal.aborted) return
      if (error instanceof NotWanted)
        return request.end({ fatal: unwantedWords(await readDatabase(state, id)) })
      const words = energyWords(error, database.name) ?? startWords(error, database.name)
      if (words === undefined) log.error('The server of a database did not start', { id, error })
      request.end({ fatal: words ?? STARTING })
    }
  }

type AskedDatabase = Resource & {
  /** It may run now. */
  readonly isWanted: boolean
  readonly isSuspended: boolean
  /** Its server does not start. */
  readonly isFailing: boolean
  readonly held: HeldFor
  /** The account's name of the login that asks. */
  readonly label: string | null
}

async function readDatabase(
  state: AwakeDeps['state'],
  id: string,
  login: string | null = null,
): Promise<AskedDatabase | undefined> {
  const { rows } = await state.query<AskedDatabase>(
    `select id, account, name, wanted = 'suspended' as "isSuspended", held,
       actual = 'deployed' and wanted = 'deployed' as "isWanted", actual = 'crash_loop' as "isFailing",
       (select label from database_roles r where r.name = $2 and r.database = n.id) as label
     from resources n where id = $1 and kind = 'database'`,
    [id, login],
  )
  return rows[0]
}

function unwantedWords(database: AskedDatabase | undefined): FatalError {
  if (database?.isSuspended === true) return suspendedWords(database)
  return database?.isFailing === true ? notStartingWords(database.name) : STARTING
}

const startWords = (error: unknown, name: string): FatalError | undefined =>
  error instanceof ErgonError && error.code === 'database_not_ready'
    ? notStartingWords(name)
    : undefined
