// Operator operations on this node: its status, its meter, its artifacts.
import type { Artifacts } from '#artifacts/fetch.ts'
import { messageOf } from '#base/errors.ts'
import type { Cells } from '#cells/cell.ts'
import type { NODE_CONTROL } from '#contract/node/control.ts'
import type { ControlHandlers, JsonSendable } from '#contract/control-operation.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { booksCheck, booksFigures } from '#status/metrics/books-figures.ts'
import { createChargedReader } from '#status/operator/charged-sums.ts'
import type { Meter } from '#node/meter/meter.ts'
import { ask } from '#node/cell-specs.ts'
import { stateHolder } from '#node/state-lock.ts'
import type { State } from '#state/connect.ts'

const ASK_TIMEOUT_MS = 2000

export const nodeHandlers = (deps: {
  state: State
  cells: Cells
  meter: Meter
  artifacts: Artifacts
}) => {
  const readCharged = createChargedReader(deps.state)
  return {
    'node.status': () => status(deps, readCharged),
    'node.metrics': () => metrics(deps.cells),
    'meter.status': () => deps.meter.status(),
    'meter.calibrate': async (_, { signal, progress }) => {
      const made = await deps.meter.calibrate(signal, (step) =>
        progress({
          asked_permille: step.askedPermille,
          permille: step.permille,
          milliwatts: step.milliwatts.toString(),
        }),
      )
      return { reference: made.reference, band_pct: made.bandPct }
    },
    'artifact.list': () => deps.artifacts.list(),
    'artifact.fetch': async ({ name }, { signal }) => {
      const files = await deps.artifacts.ensure(name, signal)
      return { name: files.name, version: files.version, folder: files.folder }
    },
    'artifact.verify': ({ name }, { signal }) => deps.artifacts.verify(signal, name),
    'artifact.prune': (_, { signal }) => deps.artifacts.prune(signal),
  } satisfies Partial<ControlHandlers<typeof NODE_CONTROL>>
}

type ReadCharged = ReturnType<typeof createChargedReader>
type SentStatus = JsonSendable<ControlAnswer<'node.status'>>

/** Answers while the state does not: then `sessions` and `ledger` are null and `state` says why. */
async function status(
  { state, cells }: { state: State; cells: Cells },
  readCharged: ReadCharged,
): Promise<SentStatus> {
  const programs = cells.programs()
  return {
    isolation: cells.isolation,
    cells: cells.list().map((cell) => ({
      name: cell.spec.name,
      state: cell.state,
      pid: programs.get(cell) ?? null,
      launcher_pid: cell.pid ?? null,
      cpu_ns: cell.cpuNs().toString(),
      restarts: cell.exits.length,
    })),
    ...(await booksOf(state, readCharged).catch((error: unknown) => ({
      state: messageOf(error),
      sessions: null,
      ledger: null,
    }))),
    receipts: await sealerOf(cells),
  }
}

/** The last of the alarms that nobody has acknowledged. */
const ALARMS_SHOWN = 5
type Alarm = { id: string; kind: string; detail: Record<string, unknown>; at: Date }

async function booksOf(state: State, readCharged: ReadCharged) {
  const sessions = await state.query<{
    id: string
    process: string
    last_seq: string
    fresh: boolean
  }>(
    'select id, process, last_seq, until > now() as fresh from sessions where closed_at is null order by id',
  )
  // A charge is a leaf, and the head knows their number: to count the rows takes minutes one day.
  const { alarms: alarmCount, leaves, bundled, receiptsWaiting } = await booksFigures(state)
  const alarms = await state.query<Alarm>(
    'select id, kind, detail, at from alarms where acknowledged_at is null order by id desc limit $1',
    [ALARMS_SHOWN],
  )
  return {
    state: 'answers',
    state_holder: (await stateHolder(state)) ?? null,
    sessions: sessions.rows,
    ledger: {
      charges: String(leaves),
      bundled_charges: String(bundled.charges),
      bundled_bytes: String(bundled.bytes),
      leaves: String(leaves),
      sealed: String(leaves - receiptsWaiting),
      alarms: String(alarmCount),
      charged: await readCharged(),
    },
    last_alarms: alarms.rows,
    books: await booksCheck(state),
  }
}

/** The sealer's own status; null while the jobs process does not answer. */
async function sealerOf(cells: Cells): Promise<SentStatus['receipts']> {
  const jobs = cells.list().find((cell) => cell.spec.name === 'jobs' && cell.state === 'ready')
  if (jobs === undefined) return null
  const answer = await ask(jobs.socket, '/sealer', AbortSignal.timeout(ASK_TIMEOUT_MS)).catch(
    () => null,
  )
  return answer as SentStatus['receipts']
}

/** The gateways' figures, added up, in the Prometheus text format. */
async function metrics(cells: Cells): Promise<string> {
  const gateways = cells.list().filter((cell) => cell.spec.name.startsWith('gw-'))
  const figures = await Promise.all(
    gateways.map((cell) => ask(cell.socket, '/metrics', AbortSignal.timeout(ASK_TIMEOUT_MS))),
  )
  const { AggregatorRegistry } = await import('prom-client')
  return await AggregatorRegistry.aggregate(figures as object[]).metrics()
}
