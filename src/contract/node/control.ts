// The operator's operations on the node: status, metrics, meter, artifacts, alarms, kept journals, background tasks.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/values/own-object.ts'

const nothing = ownObject({})
const time = z.string().nullable()
const count = z.int().min(0)

export const alarm = z.strictObject({
  id: z.string(),
  kind: z.string(),
  detail: z.record(z.string(), z.unknown()),
  at: z.string(),
})

export const books = z.strictObject({
  /** Null before the first check. */
  checked_age_s: count.nullable(),
  halted_at: time,
  /** The sums that did not add up when the books were halted. */
  faults: z.array(z.strictObject({ invariant: z.string(), detail: z.string() })),
})

const wholeText = z.string().regex(/^(0|[1-9]\d*)$/)
const sum = z.strictObject({ charges: wholeText, energy_nj: wholeText })

/** Sums of the charges in the ledger. They are for requests, running resources, stored bytes, cards and upstreams. */
export const charged = z.strictObject({
  /** All accounts pay this sum, in the day of UTC so far. */
  day: sum,
  /** All accounts have paid this sum since the first charge. */
  all: sum,
  /** No account pays this sum since the first charge. It is for requests without a payer, and for connections to databases without a session. No other sum has it. */
  nobody: sum,
})
export type ChargedSums = z.infer<typeof charged>

const isolation = z.strictObject({
  filtersSyscalls: z.boolean(),
  admitsTenants: z.boolean(),
  level: z.string(),
  uids: z.boolean(),
  meter: z.string(),
  memoryLimit: z.string(),
  processLimit: z.string(),
  cpuLimit: z.string(),
  reasons: z.array(z.string()).readonly(),
})

const status = z.strictObject({
  isolation,
  cells: z.array(
    z.strictObject({
      name: z.string(),
      state: z.string(),
      pid: z.int().nullable(),
      launcher_pid: z.int().nullable(),
      cpu_ns: z.string(),
      restarts: count,
    }),
  ),
  /** `answers`, or the reason why the state does not; then `sessions` and `ledger` are null. */
  state: z.string(),
  state_holder: z
    .strictObject({
      host: z.string(),
      folder: z.string(),
      since: z.string(),
      backend: z.int().nullable(),
    })
    .nullable()
    .optional(),
  sessions: z
    .array(
      z.strictObject({
        id: z.string(),
        process: z.string(),
        last_seq: z.string(),
        fresh: z.boolean(),
      }),
    )
    .nullable(),
  ledger: z
    .strictObject({
      charges: z.string(),
      /** The charges in bundles, and the bytes of the bundles. */
      bundled_charges: z.string(),
      bundled_bytes: z.string(),
      leaves: z.string(),
      sealed: z.string(),
      alarms: z.string(),
      /** Null where the sums fail or take longer than a second. */
      charged: charged.nullable(),
    })
    .nullable(),
  /** The newest first. */
  last_alarms: z.array(alarm).optional(),
  books: books.optional(),
  /** The sealer's own status; null while the process of receipts does not answer. */
  receipts: z
    .strictObject({
      origin: z.string().optional(),
      size: count,
      reason: z.string().optional(),
      signers: z.array(z.strictObject({ index: z.int(), share: z.string() })),
    })
    .nullable(),
})

const meterNow = z.strictObject({
  k: z.string(),
  method: z.string(),
  band_pct: z.string(),
  watts: z.string(),
  idle_watts: z.string(),
  /** Paid by requests, by tariff, in the window. */
  billed_watts: z.string(),
  /** The source of the idle power: the setting, a calibration, or the processor's model. */
  idle_from: z.string(),
  busy_cpus: z.string(),
  fallback: z.string().optional(),
  split: z
    .array(
      z.strictObject({
        name: z.string(),
        payer: z.string(),
        watts: z.string(),
        /** The part of the watts that is idle power. */
        idle_watts: z.string(),
        /** A model on the GPU has a tariff of its own: joules for a second of its steps. */
        tariff_j_per_cpu_s: z.string().optional(),
      }),
    )
    .readonly(),
})

const marginal = z.strictObject({
  source: z.string(),
  region: z.string(),
  mg_per_kwh: z.string().optional(),
  least: z.strictObject({ at: z.string(), mg_per_kwh: z.string() }).optional(),
  failure: z.string().optional(),
})

/** A meter of its own: of the machine, or of its GPU. */
const ownMeter = z.strictObject({
  meter: z.string(),
  /** Absent until the first window has closed. */
  now: meterNow.optional(),
  model: z.strictObject({ basis: z.string(), band_pct: z.string(), cpus: z.string() }),
  pue: z.string(),
  tariff_j_per_cpu_s: z.string(),
  windows: z.string(),
  /** Windows in which the best sensor was passed over. */
  windows_fallback: z.string(),
  reading_nj: z.string(),
  true_up: z.strictObject({
    /** The energy of open and settled work. */
    accrued_nj: z.string(),
    share_nj: z.string(),
    true_up_nj: z.string(),
    carried_nj: z.string(),
  }),
})

const meter = z.strictObject({
  ...ownMeter.shape,
  /** Of the GPU, where that has a meter: its processors are the cards, and its CPU time is the time of steps. */
  gpu: ownMeter.optional(),
  carbon: z.looseObject({ marginal: marginal.optional() }),
  indirect: z.strictObject({
    /** Thousandths of the learned CPU that are billed now. */
    level_milli: z.string(),
    /** Shared by the requests of a second. */
    active_second_ms: z.string(),
    /** Spent for requests, and billed with the next ones. */
    unbilled_ms: z.string(),
    operations: z
      .array(
        z.strictObject({ operation: z.string(), cpu_ms: z.string(), deviation_ms: z.string() }),
      )
      .readonly(),
  }),
})

const METER_CONTROL = {
  'meter.status': { request: nothing, answer: meter },
  'meter.calibrate': {
    request: nothing,
    answer: z.strictObject({ reference: z.string(), band_pct: z.int() }),
    progress: z.strictObject({
      asked_permille: count,
      permille: count,
      milliwatts: z.string(),
    }),
  },
} satisfies ControlTable

const ARTIFACTS_CONTROL = {
  'artifact.list': {
    request: nothing,
    answer: z
      .array(
        z.strictObject({
          name: z.string(),
          kind: z.string(),
          use: z.string(),
          licence: z.string(),
          package: z.string(),
          downloadBytes: count,
          sizeBytes: count,
          present: z.boolean(),
        }),
      )
      .readonly(),
  },
  'artifact.fetch': {
    request: ownObject({ name: z.string() }),
    answer: z.strictObject({ name: z.string(), version: z.string(), folder: z.string() }),
  },
  /** Verifies one artifact, or all where no name is given. */
  'artifact.verify': {
    request: ownObject({ name: z.string().optional() }),
    answer: z
      .array(z.strictObject({ name: z.string(), state: z.enum(['good', 'absent', 'removed']) }))
      .readonly(),
  },
  /** The names of the removed files. */
  'artifact.prune': { request: nothing, answer: z.array(z.string()).readonly() },
} satisfies ControlTable

const ALARMS_CONTROL = {
  'alarm.list': {
    /** `all`: acknowledged alarms too. */
    request: ownObject({ all: z.boolean().default(false) }),
    answer: z.strictObject({
      alarms: z.array(
        z.strictObject({
          ...alarm.shape,
          /** The meaning of the kind; empty for a kind of a newer version. */
          finding: z.string(),
          acknowledged_at: time,
        }),
      ),
      more: z.boolean(),
    }),
  },
  /** An alarm and the earlier ones of its kind. */
  'alarm.acknowledge': {
    request: ownObject({ alarm: z.string() }),
    answer: z.strictObject({ kind: z.string(), acknowledged: count }),
  },
} satisfies ControlTable

const kept = ownObject({ process: z.string() })

const JOURNALS_CONTROL = {
  'journal.list': {
    request: nothing,
    answer: z.array(
      z.strictObject({
        process: z.string(),
        /** This start has the process: only what lies beside its own journal is kept. */
        running: z.boolean(),
        reason: z.string(),
        sessions: z.array(z.string()).readonly(),
        /** Null where they cannot be read. */
        records: count.nullable(),
        files: z.array(z.string()).readonly(),
      }),
    ),
  },
  'journal.post': {
    request: kept,
    answer: z.strictObject({ process: z.string(), posted: z.literal(true) }),
  },
  'journal.drop': {
    request: kept,
    answer: z.strictObject({
      process: z.string(),
      posted: z.boolean(),
      /** The folder of the files that were given up. */
      aside: z.string().optional(),
    }),
  },
} satisfies ControlTable

const task = z.strictObject({
  name: z.string(),
  every_ms: z.number().nullable(),
  last_run: time,
  /** The next time of the schedule, or of a retry that comes sooner. */
  next_run: time,
  running: z.boolean(),
  /** Attempts of the job that runs or waits for a retry. */
  attempt: count,
  attempts: count,
  progress: z.strictObject({ done: z.number(), total: z.number() }).nullable(),
  runs: z.number(),
  failures: z.number(),
  spent_ms: z.number(),
  /** Jobs that failed at their last attempt. */
  dead: z
    .array(z.strictObject({ id: z.string(), error: z.string(), at: z.string(), age_s: z.int() }))
    .readonly(),
})

const TASKS_CONTROL = {
  'task.list': { request: nothing, answer: z.array(task) },
  'task.run': {
    request: ownObject({ name: z.string() }),
    /** `running`: the task ran already. */
    answer: z.strictObject({ running: z.boolean() }),
  },
  'task.retry': {
    request: ownObject({ job: z.string() }),
    answer: z.strictObject({ retried: z.string() }),
  },
} satisfies ControlTable

/** A request by its id or its receipt's: the refusal, while a gateway remembers it, and the charge. */
const REQUESTS_CONTROL = {
  'request.find': {
    request: ownObject({
      id: z.string().regex(/^(?:req|rcpt)_[0-9a-z]{26}$/, 'must be req_… or rcpt_…'),
    }),
    answer: z.strictObject({
      request: z.string(),
      /** Null for a request that was not refused, and for an old one. */
      refusal: z
        .strictObject({
          gateway: z.string(),
          at: z.string(),
          status: z.int(),
          code: z.string(),
          message: z.string(),
          param: z.string().nullable(),
          /** Advice of the error catalogue. */
          help: z.string().nullable(),
        })
        .nullable(),
      /** Null for a request without an account, which shares a charge, and before the charge is posted. */
      charge: z
        .strictObject({
          receipt: z.string(),
          account: z.string(),
          token: z.string().nullable(),
          operation: z.string(),
          model: z.string().nullable(),
          status: z.int(),
          at: z.string(),
          energy_nj: z.string(),
          charge_pusd: z.string(),
          unit: z.enum(['USD', 'tUSD']),
        })
        .nullable(),
      /** The reason why the ledger could not be read, and the charge is not known. */
      ledger_fault: z.string().nullable(),
    }),
  },
} satisfies ControlTable

export const NODE_CONTROL = {
  'node.status': { request: nothing, answer: status },
  /** The sums of all gateways' figures, in the Prometheus text format. */
  'node.metrics': { request: nothing, answer: z.string() },
  ...METER_CONTROL,
  ...ARTIFACTS_CONTROL,
  ...ALARMS_CONTROL,
  ...JOURNALS_CONTROL,
  ...TASKS_CONTROL,
  ...REQUESTS_CONTROL,
} satisfies ControlTable
