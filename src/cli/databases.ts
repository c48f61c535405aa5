// Functions that the commands of databases share.
import { sleep } from '#base/clock.ts'
import { CHANGE_UNDER_WAY, isUnpaidReason } from '#contract/resources/passing-reasons.ts'
import { isBudgetUsedUp } from '#contract/values/printed-budget.ts'
import { apiGet, apiPatch, ApiRefusal, replyOf } from './client.ts'
import { interruptible } from './interruptible.ts'
import { CommandError, EXIT, printLabelled, type LabelledText } from './output.ts'
import type { GlobalOptions } from './profile.ts'
import type {
  backupList,
  backupReply,
  databaseReply,
  databaseUrl,
} from '#contract/databases/databases.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

export type Database = ReplyOf<typeof databaseReply>

export type Backup = ReplyOf<typeof backupReply>

export const databasePath = (name: string): string => `/v1/databases/${encodeURIComponent(name)}`

export const getDatabase = async (options: GlobalOptions, name: string): Promise<Database> =>
  replyOf<typeof databaseReply>(await apiGet(options, databasePath(name)))

/** The same for a command that waits for the database. Throws a CommandError where the database was deleted meanwhile. */
export const getAwaited = (options: GlobalOptions, name: string): Promise<Database> =>
  getDatabase(options, name).catch((error: unknown) => {
    if (error instanceof ApiRefusal && error.status === NOT_FOUND)
      throw new CommandError(`${name} was deleted meanwhile`, EXIT.failed, 'ergon db list')
    throw error
  })

export type DatabaseAddress = ReplyOf<typeof databaseUrl>

/** The connection string of the owner, or of another role, and the certificate of the endpoint. */
export async function connectionOf(
  options: GlobalOptions,
  name: string,
  role?: string,
): Promise<DatabaseAddress> {
  const query = role === undefined ? '' : `?role=${encodeURIComponent(role)}`
  return replyOf<typeof databaseUrl>(await apiGet(options, `${databasePath(name)}/url${query}`))
}

export const backupsPath = (name: string, backup?: string): string =>
  `${databasePath(name)}/backups${backup === undefined ? '' : `/${encodeURIComponent(backup)}`}`

export const rolesPath = (name: string, role?: string): string =>
  `${databasePath(name)}/roles${role === undefined ? '' : `/${encodeURIComponent(role)}`}`

/** Asks for a change, and returns the database as it is by then. */
export const changeDatabase = async (
  options: GlobalOptions,
  name: string,
  change: {
    readonly size?: string
    readonly suspended?: boolean
    readonly energy_budget?: string | null
    readonly upgrade?: true
  },
): Promise<Database> =>
  replyOf<typeof databaseReply>(await apiPatch(options, databasePath(name), change))

/** The status of a name that is not there. */
export const NOT_FOUND = 404
const WAIT_MS = 120_000
const LOOK_MS = 200

/**
 * Waits until the database has a status, and no change waits; `seen` gets the database of each poll. Throws a
 * CommandError where it fails or takes too long.
 */
export const waitForStatus = (
  options: GlobalOptions,
  name: string,
  wanted: 'deployed' | 'suspended',
  seen: (database: Database) => void = () => undefined,
): Promise<Database> =>
  interruptible(`The service goes on: ergon db show ${name}`, async () => {
    const lastMs = performance.now() + WAIT_MS
    for (;;) {
      const database = await getAwaited(options, name)
      seen(database)
      const isChanging = database.upgrading || database.reason === CHANGE_UNDER_WAY
      if (database.status === wanted && !isChanging) return database
      const error =
        whyNot(database, wanted) ??
        (performance.now() > lastMs ? stillWaiting(database, wanted) : undefined)
      if (error !== undefined) throw error
      await sleep(LOOK_MS)
    }
  })

/** The energy budget that a command names; null for `none`. */
export const budgetOf = (text: string): string | null => (text === 'none' ? null : text)

type AwaitedDatabase = Pick<Database, 'name' | 'status' | 'reason'>

/** Statuses of a database that is not there yet. */
const UNMADE: ReadonlySet<string> = new Set(['pending', 'deploying', 'failed'])

/** Why a database does not get a status soon; undefined while it may. */
export function whyNot(
  { name, status, reason }: AwaitedDatabase,
  wanted: 'deployed' | 'suspended',
): CommandError | undefined {
  if (reason === CHANGE_UNDER_WAY || status === wanted) return undefined
  if (reason === null) return UNMADE.has(status) ? undefined : otherWish(name, status)
  const exitCode = isUnpaidReason(reason) ? EXIT.payment : EXIT.failed
  if (UNMADE.has(status))
    return new CommandError(
      `Could not make ${name}: ${reason}`,
      exitCode,
      `it stays, and is tried again by itself: ergon db show ${name}. To give it up: ergon db delete ${name}`,
    )
  if (wanted === 'suspended' || status !== 'suspended') return undefined
  return new CommandError(
    `${name} is suspended: ${reason}`,
    exitCode,
    `it goes on by itself when that is over: ergon db show ${name}`,
  )
}

/** A database that is at rest in a state that this command does not wait for. */
const otherWish = (name: string, status: Database['status']): CommandError =>
  new CommandError(
    `${name} was ${status === 'suspended' ? 'suspended' : 'resumed'} meanwhile`,
    EXIT.failed,
    `ergon db show ${name}`,
  )

/** After a long time without a reason. */
export function stillWaiting(
  { name, status, reason }: AwaitedDatabase,
  wanted: 'deployed' | 'suspended',
): CommandError {
  const why =
    status === 'pending'
      ? 'nothing has begun to make it: the node does not answer, or makes other databases first'
      : (reason ?? `it is still ${status}`)
  return new CommandError(
    `${name} is not ${wanted} yet: ${why}`,
    EXIT.failed,
    `it stays, and is done as soon as that is possible: ergon db show ${name}; the operator sees more by ergon status`,
  )
}

const MB = 1_000_000
const mb = (bytes: number): string => String(Number((bytes / MB).toFixed(1)))

/** A restore behind its copy, in words. */
export const RESTORE_STEPS = {
  copy: undefined,
  log: 'its log is replayed',
  checks: 'its tables are read',
} as const

const restoreWords = ({ step, done_bytes: done }: NonNullable<Database['restore']>): string =>
  RESTORE_STEPS[step] ?? `${mb(done)} MB are read`

/** The times that a database can be restored to, in words. */
export const restorableWords = ({
  restorable,
}: Pick<ReplyOf<typeof backupList>, 'restorable'>): string =>
  restorable.length === 0
    ? 'the ends of its backups alone'
    : `each second ${restorable
        .map(({ from, to }) => `from ${from} ${to === null ? 'on' : `to ${to}`}`)
        .join(', and ')}`

/**
 * A line for each thing that a user asks of a database; --json has all. With the times that it can be restored to, where
 * its backups are given.
 */
export function printDatabase(database: Database, backups?: ReplyOf<typeof backupList>): void {
  printLabelled([
    ...linesOf(database),
    ...(backups === undefined ? [] : [['restorable', restorableLine(backups)] as const]),
  ])
}

const restorableLine = (backups: ReplyOf<typeof backupList>): string =>
  backups.restorable_from === null ? 'not yet' : `to ${restorableWords(backups)}`

function linesOf(one: Database): LabelledText[] {
  const { restore } = one
  const extensions = one.extensions.map(({ name, version }) => `${name} ${version}`)
  const full = one.full ? ': full, transactions are read-only' : ''
  return [
    ['name', one.name],
    ['id', one.id],
    ['status', one.reason === null ? one.status : `${one.status}: ${one.reason}`],
    ...(restore === null ? [] : [['restore', restoreWords(restore)] as const]),
    ['awake', awakeWords(one.last_awake)],
    ['region', one.region],
    ['size', `${mb(one.stored_bytes)} of ${mb(one.size_bytes)} MB${full}`],
    ['write-ahead log', `${mb(one.wal_bytes)} MB`],
    ['energy budget', budgetWords(one)],
    ['PostgreSQL', one.postgres_version ?? 'not started yet'],
    ['pgvector', one.vector_version ?? 'not on this machine'],
    ['extensions', extensions.join(', ') || 'none'],
    ...(one.upgrading ? [['upgrade', 'waits'] as const] : []),
    ['endpoint', `${one.host}:${one.port}, login ${one.role}`],
    ['created', one.created_at],
  ]
}

function budgetWords(one: Database): string {
  const { name, energy_budget: budget, energy_budget_used_j: usedJ } = one
  if (budget === null) return 'none'
  const used = `${(usedJ ?? 0).toFixed(1)} J of ${budget}`
  if (!isBudgetUsedUp(one)) return used
  return `${used}: used up, no session until 00:00 UTC, or: ergon db budget ${name} "<energy>/day"`
}

function awakeWords(last: Database['last_awake']): string {
  if (last === null) return 'not yet'
  const { from, to, woken_by, role, slept_by } = last
  const woken = role === null ? woken_by : `${woken_by} of ${role}`
  if (to === null) return `since ${from}, woken by: ${woken}`
  return `no: asleep since ${to} (${slept_by}); woken last at ${from} by: ${woken}`
}
