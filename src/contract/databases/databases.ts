// Requests and replies of databases.
import { z } from 'zod'
import { energyBudget } from '#contract/values/energy-budget.ts'
import { interval } from '#contract/resources/intervals.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'
import { bytesOfSize } from '#contract/values/sizes.ts'

/**
 * The fastest writer does 1.2 MB in a millisecond, so a twentieth of 256 MB is 10 ms: in these the agent finds the growth
 * of a database and stops its writers. Of 64 MB a twentieth is less than 3 ms.
 */
export const DATABASE_SIZES = { least: '256MB', most: '1TB' } as const
export const DATABASE_SIZE_DEFAULT = '1GB'

/** Databases that PostgreSQL makes by itself. */
const TAKEN: ReadonlySet<string> = new Set(['postgres', 'template0', 'template1'])

export const databaseRequest = ownObject({
  /** The name of the database for SQL, too. */
  name: z
    .string()
    .regex(
      /^[a-z][a-z0-9_-]{0,62}$/,
      'must begin with a letter and have at most 63 characters of a-z, 0-9, - and _',
    )
    .refine((name) => !TAKEN.has(name), 'is taken by PostgreSQL itself')
    // Each command takes a name or an id.
    .refine((name) => !name.startsWith('db_'), 'must not begin as the ids of databases do: db_'),
  region: z.string().max(100).default('auto'),
  size: z
    .string()
    .refine(
      (text) => bytesOfSize(text, DATABASE_SIZES) !== undefined,
      'must be from 256MB to 1TB, such as 1GB',
    )
    .optional(),
  /**
   * The most energy that its server, sessions and backups may use on a day of UTC; null for no limit. By default a
   * database that is made from backups has the budget of the other one, and a new one has no limit.
   */
  energy_budget: energyBudget.nullable().optional(),
  /** The database whose backups it is made from, and of which moment; by default of now. */
  from: ownObject({
    /** The name, or the id: also of a deleted database. */
    database: z.string().max(100),
    /** The state at the end of this backup. */
    backup: z.string().max(100).optional(),
    /** The state at this time. */
    time: z.iso.datetime({ offset: true }).optional(),
  })
    .refine(
      ({ backup, time }) => backup === undefined || time === undefined,
      'must not have both backup and time',
    )
    .optional(),
})
export type DatabaseRequest = z.infer<typeof databaseRequest>

/** Throws invalid_request. */
export const parseDatabaseRequest = (json: unknown): DatabaseRequest =>
  parseWith(databaseRequest, json)

export const databaseChange = ownObject({
  size: databaseRequest.shape.size,
  /** True: its server stops and nobody can connect; false: it can be connected to again. */
  suspended: z.boolean().optional(),
  /** Null removes it. */
  energy_budget: energyBudget.nullable().optional(),
  /** Brings its extensions to the versions that the service has. */
  upgrade: z.literal(true).optional(),
}).refine(
  (change) => Object.keys(change).length > 0,
  'must have size, suspended, energy_budget or upgrade',
)
export type DatabaseChange = z.infer<typeof databaseChange>

/** Throws invalid_request. */
export const parseDatabaseChange = (json: unknown): DatabaseChange =>
  parseWith(databaseChange, json)

export const databaseReply = z.object({
  id: z.string(),
  object: z.literal('database'),
  name: z.string(),
  region: z.string(),
  /** The room for tables, indexes and large objects. */
  size_bytes: z.int(),
  /** The part of it that is in use: measured each minute, and when the database becomes full. */
  stored_bytes: z.int(),
  /** The write-ahead log, which is beside the size and is charged too. */
  wal_bytes: z.int(),
  /** True while there is no room: transactions are read-only. */
  full: z.boolean(),
  /** The most energy that it may use on a day of UTC; null without a budget. */
  energy_budget: z.string().nullable(),
  /** The part of it that is charged today, at most a minute old; null without a budget. */
  energy_budget_used_j: z.number().min(0).nullable(),
  /** pending, deploying and failed: it cannot be connected to yet. */
  status: z.enum(['pending', 'deploying', 'deployed', 'suspended', 'failed', 'deleted']),
  /**
   * A restore under way: the bytes of the copy that are read, and the expected number. Behind the copy the log is
   * replayed, and then each table is read.
   */
  restore: z
    .object({
      step: z.enum(['copy', 'log', 'checks']),
      done_bytes: z.int(),
      total_bytes: z.int().nullable(),
    })
    .nullable(),
  /** Why the status is not what was asked for, or why the last change is not made yet. */
  reason: z.string().nullable(),
  /** As of the last start of its server; null before the first. */
  postgres_version: z.string().nullable(),
  /** The pgvector that the service has; null where it has none. */
  vector_version: z.string().nullable(),
  /** The extensions in it, as last seen while it was awake. */
  extensions: z.array(z.object({ name: z.string(), version: z.string() })),
  /** True while an upgrade of its extensions waits. */
  upgrading: z.boolean(),
  /** When its server was awake last, or is; null before the first time. */
  last_awake: interval.nullable(),
  /** The login of its owner. */
  role: z.string(),
  host: z.string(),
  port: z.int(),
  created_at: z.iso.datetime(),
})
export type DatabaseReply = z.infer<typeof databaseReply>

/** All of them: an account has few. */
export const databaseList = z.object({
  object: z.literal('list'),
  data: z.array(databaseReply),
  has_more: z.literal(false),
  next_cursor: z.null(),
})
export const ENERGY_STEPS = ['minute', 'hour', 'day'] as const
const time = z.iso.datetime()
const wholeText = z.string().regex(/^\d+$/)
const energyFigures = {
  energy_j: z.number().min(0),
  /** Of its server; the rest is for stored bytes, backups and the proxy. */
  server_j: z.number().min(0),
  carbon_mg: z.number().min(0),
  energy_nj: wholeText,
  charge_pusd: wholeText,
}

export const databaseEnergyQuery = z.object({
  from: time.optional(),
  to: time.optional(),
  by: z.enum(ENERGY_STEPS).optional(),
})

/** The charges of the database: those of the last minute may be missing. */
export const databaseEnergy = z.object({
  object: z.literal('database.energy'),
  from: time,
  to: time,
  by: z.enum(ENERGY_STEPS),
  /** Sums of the whole time. */
  ...energyFigures,
  /** The steps in which anything was charged, the oldest first. */
  data: z.array(z.object({ at: time, ...energyFigures })),
})

/** The queries of a database by the time that they took; half a minute old, or of the time before the server slept. */
export const databaseQueries = z.object({
  object: z.literal('database.queries'),
  /** Says that `energy_j` is an estimate: nothing is billed by query. */
  basis: z.literal(
    'the time of each at one processor, at most the energy of the server; not billed by query',
  ),
  /** The time of the figures; null before the first. */
  from: time.nullable(),
  to: time.nullable(),
  /** Energy of the server in that time, as charged. */
  energy_j: z.number().min(0),
  /** The part of statements that are not listed: the service's own, and those after the first 100. */
  other_j: z.number().min(0),
  /** The part without a statement: starts, sessions and upkeep of the server, and its part of the idle machine. */
  rest_j: z.number().min(0),
  /** The longest first, at most 100. */
  data: z.array(
    z.object({
      /** The text of the query without its constants, at most 500 characters. */
      query: z.string(),
      calls: z.int().min(0),
      rows: z.int().min(0),
      execution_ms: z.number().min(0),
      energy_j: z.number().min(0),
    }),
  ),
})
export const QUERIES_BASIS = databaseQueries.shape.basis.value

/** Rows that an answer of POST /v1/databases/{database}/query has at most, and by default. */
export const QUERY_ROWS_MAX = 1000
const QUERY_ROWS = 100
const QUERY_CHARACTERS_MAX = 100_000
/** The time for which a query may run. */
export const QUERY_MS_MAX = 15_000

export const databaseQueryRequest = ownObject({
  /** One statement. It reads: its transaction is read-only, and its role owns nothing. */
  sql: z.string().min(1).max(QUERY_CHARACTERS_MAX),
  max_rows: z.int().min(1).max(QUERY_ROWS_MAX).default(QUERY_ROWS),
})
export type DatabaseQueryRequest = z.infer<typeof databaseQueryRequest>

/** Throws invalid_request. */
export const parseDatabaseQuery = (json: unknown): DatabaseQueryRequest =>
  parseWith(databaseQueryRequest, json)

export const databaseQueryReply = z.object({
  object: z.literal('database.query'),
  /** As PostgreSQL names it, such as SELECT. */
  command: z.string(),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  /** Each value as PostgreSQL prints it. */
  rows: z.array(z.array(z.string().nullable())),
  row_count: z.int().min(0),
  /** True: there are more rows than max_rows, or than fit into 1 MB. */
  cut: z.boolean(),
  /** The time from the statement to its last row at the service. */
  duration_ms: z.number().min(0),
  /** Upper bound of its part in the server's charges by the minute; the request's own energy is in X-Energy-Joules. */
  server_j: z.number().min(0),
  basis: z.literal(
    "an upper bound: the query's time at one processor; the server's cell is billed by the minute",
  ),
})

export const databaseQueryCeiling = z.object({
  object: z.literal('ceiling'),
  /** The most that the request itself is charged. */
  ceiling_j: z.number().min(0),
  ceiling_nj: wholeText,
  ceiling_pusd: wholeText,
  /** An upper bound of the server: one processor for the whole time that a query may run. */
  server_j: z.number().min(0),
  time_limit_ms: z.int(),
})

export const databaseUrlQuery = z.object({
  /** A role's name; the owner by default. */
  role: z.string().max(100).optional(),
})

export const databaseUrl = z.object({
  /** The connection string, password included: keep it secret. */
  url: z.string(),
  /** The SHA-256 fingerprint of the endpoint's certificate; null before the first database. */
  certificate_sha256: z.string().nullable(),
  /** The certificate as PEM, where nobody else has signed it: for sslmode=verify-full as sslrootcert. */
  ca: z.string().nullable(),
})

export type DatabaseUrl = z.infer<typeof databaseUrl>

/** Roles that a database has at most, its owner included. */
export const DATABASE_ROLES_MAX = 20

export const databaseRoleRequest = ownObject({
  name: z
    .string()
    .regex(
      /^[a-z][a-z0-9_]{0,29}$/,
      'must begin with a letter and have at most 30 characters of a-z, 0-9 and _',
    ),
  /** True: it reads what the owner has, now and later, and changes nothing. False: it may do what the owner may. */
  read_only: z.boolean().default(false),
})
export type DatabaseRoleRequest = z.infer<typeof databaseRoleRequest>

/** Throws invalid_request. */
export const parseDatabaseRoleRequest = (json: unknown): DatabaseRoleRequest =>
  parseWith(databaseRoleRequest, json)

export const databaseRoleReply = z.object({
  object: z.literal('database.role'),
  name: z.string(),
  /** The user of connection strings. */
  login: z.string(),
  read_only: z.boolean(),
})
export type DatabaseRoleReply = z.infer<typeof databaseRoleReply>
export const databaseRoleList = z.object({
  object: z.literal('list'),
  data: z.array(databaseRoleReply),
  has_more: z.literal(false),
  next_cursor: z.null(),
})
export const databaseRoleDeleted = z.object({
  object: z.literal('database.role'),
  name: z.string(),
  deleted: z.literal(true),
})

export const databaseDeleted = z.object({
  id: z.string(),
  object: z.literal('database'),
  deleted: z.literal(true),
  /**
   * Until then a new database can be made from its last state. Where a part of its log was lost, `restorable` of its backups
   * has the last time. Null where it has no backup.
   */
  restorable_until: z.iso.datetime().nullable(),
})

/** There is nothing to choose. */
export const backupRequest = ownObject({})
export type BackupRequest = z.infer<typeof backupRequest>

/** Throws invalid_request. */
export const parseBackupRequest = (json: unknown): BackupRequest => parseWith(backupRequest, json)

export const backupReply = z.object({
  id: z.string(),
  object: z.literal('database.backup'),
  database: z.string(),
  /** nightly: kept as long as a time of the retention needs it; manual: until it is deleted. */
  kind: z.enum(['nightly', 'manual']),
  status: z.enum(['wanted', 'running', 'done', 'failed']),
  /** Why it failed; while it is wanted, why it is tried again. */
  reason: z.string().nullable(),
  /** Of the files that were read, and of all; null before it begins. */
  done_bytes: z.int(),
  total_bytes: z.int().nullable(),
  /** Compressed and encrypted, without the log. */
  stored_bytes: z.int(),
  created_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
})
export type BackupReply = z.infer<typeof backupReply>
export const backupList = z.object({
  object: z.literal('list'),
  data: z.array(backupReply),
  has_more: z.literal(false),
  next_cursor: z.null(),
  /** The end of the first backup that the retention keeps; null where there is no backup yet. */
  restorable_from: z.iso.datetime().nullable(),
  /**
   * Of a deleted database whose last log could not be stored: rows since this time are in no restore, and the last of the
   * times below ends here. Null where none is missing.
   */
  log_lost_from: z.iso.datetime().nullable(),
  /**
   * The times that the database can be restored to, the earliest first; the last one is now where `to` is null. Between
   * two of them, or behind the last one, a part of the log was lost.
   */
  restorable: z.array(z.object({ from: z.iso.datetime(), to: z.iso.datetime().nullable() })),
  /** Of all backups with the log, as they are charged. */
  stored_bytes: z.int(),
})
export type BackupListReply = z.infer<typeof backupList>
export const backupDeleted = z.object({
  id: z.string(),
  object: z.literal('database.backup'),
  /** False where the retention still needs the backup: the backup becomes a nightly one and ends with the retention. */
  deleted: z.boolean(),
})
