// The operator's view of the node on the portal. No contents and no prompts of accounts are in it.
import { z } from 'zod'
import { ENERGY_METHODS } from '#contract/ledger/charge.ts'
import { incident, incidentOpening, incidentTelling } from '#contract/status/control.ts'
import { alarm, books, charged } from '#contract/node/control.ts'
import { listPageOf, pageQuery } from '#contract/values/list-page.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'

/** Cells in one answer; a node of ours has about ten, and one for each model and database that runs. */
export const CELLS_MAX = 500

const wholeText = z.string().regex(/^(0|[1-9]\d*)$/)
const decimal = z.string().regex(/^-?\d+(\.\d+)?$/)
const amount = z.string().regex(/^-?\d+$/)
const count = z.int().min(0)
const time = z.iso.datetime()

const operatorCell = z.object({
  name: z.string(),
  state: z.enum(['starting', 'ready', 'waiting', 'stopping', 'stopped']),
  pid: z.int().nullable(),
  /** CPU of all its lives and processes. */
  cpu_ns: wholeText,
  /** Resident memory of its program; null where it does not run. */
  memory_bytes: count.nullable(),
  /** In the meter's last window, with its part of the idle power. */
  watts: decimal,
  idle_watts: decimal,
  /** `operator`, `caller` (of the requests that it answers), or the id of an account. */
  payer: z.string(),
  /** Ends of its lives that it did not ask for; at most twenty are kept. */
  restarts: count,
})

const operatorMeter = z.object({
  name: z.string(),
  /** Null until the first window has closed. */
  method: z.enum(ENERGY_METHODS).nullable(),
  band_pct: wholeText,
  /** Why this method, in words. */
  reason: z.string(),
  watts: decimal,
  idle_watts: decimal,
  /** Paid by requests, by tariff, in the last window. */
  billed_watts: decimal,
  busy_cpus: decimal,
  cpus: wholeText,
  pue: decimal,
  tariff_j_per_cpu_s: decimal,
  windows: wholeText,
  windows_fallback: wholeText,
  reading_nj: wholeText,
  true_up: z.object({
    accrued_nj: amount,
    share_nj: amount,
    true_up_nj: amount,
    carried_nj: amount,
  }),
})

/** The cards of the node: a meter whose second of CPU is a second of steps, and whose processors are the cards. */
const operatorGpu = operatorMeter.extend({
  /** The names of the cards, with the version of the driver. */
  cards: z.string(),
  /** The models that used them in the last window, and what no model used. */
  shares: z
    .array(z.object({ name: z.string(), payer: z.string(), watts: decimal, idle_watts: decimal }))
    .max(CELLS_MAX),
})

export const nodeFacts = z.object({
  at: time,
  version: z.string(),
  node_version: z.string(),
  region: z.string(),
  /** The isolation of cells, and in words why not better. */
  isolation: z.object({ level: z.string(), reasons: z.array(z.string()) }),
  meter: operatorMeter,
  /** Null without cards that have a meter of their own. */
  gpu: operatorGpu.nullable(),
  cells: z.array(operatorCell).max(CELLS_MAX),
  disks: z.array(z.object({ folder: z.string(), size_bytes: count, free_bytes: count })),
})
export type NodeFacts = z.infer<typeof nodeFacts>

export const operatorNode = z.object({
  object: z.literal('operator_node'),
  /** As the agent wrote them within the last seconds; null where it does not answer. */
  facts: nodeFacts.nullable(),
})
export type OperatorNode = z.infer<typeof operatorNode>

export const operatorBooks = z.object({
  object: z.literal('operator_books'),
  ...books.shape,
  charges: wholeText,
  /** Charges whose receipts are signed. */
  sealed: wholeText,
  /** At most some seconds old; null where the sums fail or take longer than a second. */
  charged: charged.nullable(),
  alarms: count,
  signers: z.object({
    /** Null where nobody has looked for minutes. */
    ready: count.nullable(),
    total: count,
    /** By number, when they were last looked at. */
    states: z.record(z.string(), z.string()),
    looked_at: time.nullable(),
  }),
  backups: z.object({
    databases: count,
    last_done_at: time.nullable(),
    waiting: count,
    /** The runs of the last seven days that failed. */
    failed: count,
  }),
})
export type OperatorBooks = z.infer<typeof operatorBooks>

const operatorAccount = z.object({
  id: z.string(),
  name: z.string().nullable(),
  env: z.enum(['live', 'test']),
  status: z.enum(['active', 'suspended', 'deleting', 'deleted']),
  /** The reason of a suspension, as its owners read it. */
  suspended_for: z.string().nullable(),
  pays_with: z.enum(['balance', 'free_tier']),
  balance_pusd: amount,
  /** The day of UTC so far; the last minute may be missing. */
  day: z.object({ requests: count, energy_nj: wholeText, charge_pusd: wholeText }),
  created_at: time,
})
export const operatorAccountQuery = z.object(pageQuery)
export const operatorAccountList = listPageOf(operatorAccount)
export type OperatorAccount = z.infer<typeof operatorAccount>

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export const LOG_LINES_MAX = 500

export const operatorLogQuery = z.object({
  /** Lines of this level and above. */
  level: z.enum(LOG_LEVELS).optional(),
  /** Lines of this subsystem alone, such as `gw-1`. */
  subsystem: z.string().max(100).optional(),
  /** The newest lines that fit, at most 500. */
  limit: z.coerce.number().int().min(1).max(LOG_LINES_MAX).optional(),
})
export type OperatorLogQuery = z.infer<typeof operatorLogQuery>

const logLine = z.object({
  time: z.string(),
  level: z.enum(LOG_LEVELS),
  subsystem: z.string(),
  message: z.string(),
  /** The other fields of the line, as JSON. */
  fields: z.string(),
})
export type LogLine = z.infer<typeof logLine>

export const operatorLog = z.object({
  object: z.literal('operator_log'),
  /** The subsystems of all lines that the agent keeps. */
  subsystems: z.array(z.string()),
  /** The oldest first; null where the agent does not answer. */
  lines: z.array(logLine).nullable(),
})
export type OperatorLog = z.infer<typeof operatorLog>

/** Throws invalid_request. */
export const parseOperatorLogQuery = (query: URLSearchParams): OperatorLogQuery =>
  parseWith(operatorLogQuery, Object.fromEntries(query))

export const accountSuspension = ownObject({
  /** The owners of the account read it. */
  reason: z.string().trim().min(1).max(300),
})
export type AccountSuspension = z.infer<typeof accountSuspension>

/** Throws invalid_request. */
export const parseAccountSuspension = (json: unknown): AccountSuspension =>
  parseWith(accountSuspension, json)

export const operatorAccountChanged = z.object({
  id: z.string(),
  object: z.literal('account'),
  suspended_for: z.string().nullable(),
})

const operatorAlarm = z.object({
  ...alarm.shape,
  /** The meaning of the kind; empty for a kind of a newer version. */
  finding: z.string(),
  /** The command that shows more; the guide says what to do. */
  command: z.string(),
  acknowledged_at: time.nullable(),
})
export const operatorAlarmQuery = z.object({
  ...pageQuery,
  /** `true`: acknowledged alarms too. */
  acknowledged: z.enum(['true', 'false']).optional(),
})
export const operatorAlarmList = listPageOf(operatorAlarm)
export type OperatorAlarm = z.infer<typeof operatorAlarm>
export const alarmAcknowledged = z.object({ kind: z.string(), acknowledged: count })

export const operatorIncident = z.object(incident.shape)
export const operatorIncidentList = z.object({
  object: z.literal('list'),
  data: z.array(operatorIncident),
})

export type IncidentOpening = z.infer<typeof incidentOpening>
export type IncidentTelling = z.infer<typeof incidentTelling>
export const parseIncidentOpening = (json: unknown): IncidentOpening =>
  parseWith(incidentOpening, json)
export const parseIncidentTelling = (json: unknown): IncidentTelling =>
  parseWith(incidentTelling, json)
