// Figures for Prometheus that the state knows: of the books, and of the newest window of the meter. Each scrape is one
// query of the state. Figures that do not arrive in time are left out: an old figure would seem current.
import { setTimeout as pause } from 'node:timers/promises'
import type { Gauge, Registry } from 'prom-client'
import type { BooksFigures } from './books-figures.ts'
import type { TaskFigures } from '#tasks/admin.ts'
import type { PowerFigures } from './power-figures.ts'
import type { WebhookFigures } from './webhook-figures.ts'

/** Queries of the state; they may reject, or take long. */
export type GaugeQueries = {
  readonly books: () => Promise<BooksFigures>
  readonly power: () => Promise<PowerFigures | undefined>
  /** Of the GPU; undefined where that has no meter. */
  readonly gpuPower: () => Promise<PowerFigures | undefined>
  readonly tasks: () => Promise<readonly TaskFigures[]>
  readonly webhooks: () => Promise<WebhookFigures>
}

const ANSWER_MS_MAX = 1000

/** Adds all of them; `GaugeOf` is prom-client's, which is loaded at the first scrape. */
export function addStateGauges(
  registry: Registry,
  GaugeOf: typeof Gauge,
  { books, power, gpuPower, tasks, webhooks }: GaugeQueries,
): void {
  addBooks(registry, GaugeOf, books)
  addPower(registry, GaugeOf, power)
  addGpuPower(registry, GaugeOf, gpuPower)
  addTasks(registry, GaugeOf, tasks)
  addWebhooks(registry, GaugeOf, webhooks)
}

function addBooks(registry: Registry, GaugeOf: typeof Gauge, books: GaugeQueries['books']): void {
  const ofBooks = gaugesOf(registry, GaugeOf, books)
  ofBooks('ledger_alarms', 'Found wrong and not acknowledged', ({ alarms }) => alarms)
  ofBooks(
    'receipts_waiting',
    'Charges in the ledger whose receipts are not signed yet',
    ({ receiptsWaiting }) => receiptsWaiting,
  )
  ofBooks(
    'signers_ready',
    'Signers that have their share of the key and answer; below 3 nothing is sealed',
    ({ signersReady }) => signersReady,
  )
  ofBooks(
    'books_checked_age_seconds',
    'Since the books were checked, which is done each minute',
    ({ checkedAgeS }) => checkedAgeS,
  )
  ofBooks(
    'books_halted',
    '1 while the books do not add up: nothing paid is admitted',
    ({ isHalted }) => Number(isHalted),
  )
  ofBooks(
    'unattributed_joules',
    'Requests of the API and connections to databases that no account pays for; to the last check of the books',
    ({ unattributedJ }) => unattributedJ,
  )
}

/** Gauges without labels. All gateways ask the same state. */
function gaugesOf<Figures>(
  registry: Registry,
  GaugeOf: typeof Gauge,
  question: () => Promise<Figures>,
) {
  const ask = askOnce(question)
  return (name: string, help: string, read: (figures: Figures) => number | undefined) =>
    new GaugeOf({
      name: `ergon_${name}`,
      help,
      aggregator: 'max',
      registers: [registry],
      async collect() {
        const known = await ask()
        const figure = known && read(known)
        // An old figure would look like a good one.
        if (figure === undefined) this.remove()
        else this.set(figure)
      },
    })
}

function addWebhooks(
  registry: Registry,
  GaugeOf: typeof Gauge,
  webhooks: GaugeQueries['webhooks'],
): void {
  const ofWebhooks = gaugesOf(registry, GaugeOf, webhooks)
  ofWebhooks('webhooks_due', 'Deliveries that are due and not sent', ({ waiting }) => waiting)
  ofWebhooks('webhooks_due_age_seconds', 'Since the oldest of them was due', ({ ageS }) => ageS)
}

/** A gauge of the newest window of a meter, which is the same for all gateways. */
function powerGauges(
  registry: Registry,
  GaugeOf: typeof Gauge,
  power: GaugeQueries['power'],
): (name: string, help: string, gauge: PowerGauge) => void {
  const askPower = askOnce(power)
  return (name, help, { labels = [], read }) =>
    void new GaugeOf({
      name: `ergon_${name}`,
      help,
      aggregator: 'max',
      labelNames: labels,
      registers: [registry],
      async collect() {
        const known = await askPower()
        // Cells come and go, and a power that is not known is left out: reset() leaves a 0 where there is no label.
        this.reset()
        if (labels.length === 0) this.remove()
        if (known === undefined) return
        for (const one of read(known)) this.set(one.labels ?? {}, one.value)
      },
    })
}

/** The power of the cards, and of the models on them. */
function addGpuPower(
  registry: Registry,
  GaugeOf: typeof Gauge,
  power: GaugeQueries['power'],
): void {
  const gauge = powerGauges(registry, GaugeOf, power)
  gauge('gpu_power_watts', 'What the cards drew in the last second, all together', {
    labels: ['method'],
    read: ({ method, watts }) => [{ labels: { method }, value: watts }],
  })
  gauge('gpu_idle_power_watts', 'What of that they draw when nothing runs', {
    read: ({ idleWatts }) => [{ value: idleWatts }],
  })
  gauge('gpu_cell_power_watts', 'Share of that of each model, and who pays for it', {
    labels: ['cell', 'payer', 'model'],
    read: ({ cells }) => cells.map(({ labels, watts }) => ({ labels, value: watts })),
  })
}

/** The power of the node and of its cells. */
function addPower(registry: Registry, GaugeOf: typeof Gauge, power: GaugeQueries['power']): void {
  const gauge = powerGauges(registry, GaugeOf, power)
  gauge('node_power_watts', 'What this machine drew in the last second, by its best sensor', {
    read: ({ watts }) => [{ value: watts }],
  })
  gauge('node_idle_power_watts', 'What of that it draws when nothing runs', {
    read: ({ idleWatts }) => [{ value: idleWatts }],
  })
  gauge('cell_power_watts', 'Share of that of each process, and who pays for it', {
    labels: ['cell', 'payer', 'model'],
    read: ({ cells }) => cells.map(({ labels, watts }) => ({ labels, value: watts })),
  })
  gauge('meter_band_ratio', 'Declared error of the meter as a share, by how it knows the power', {
    labels: ['method'],
    read: ({ method, bandRatio }) => [{ labels: { method }, value: bandRatio }],
  })
  gauge('meter_window_age_seconds', 'Since the meter last said what the machine drew', {
    read: ({ ageS }) => [{ value: ageS }],
  })
}

/** Sums that the state keeps, so they are gauges here, although they only grow. */
function addTasks(registry: Registry, GaugeOf: typeof Gauge, tasks: GaugeQueries['tasks']): void {
  const askTasks = askOnce(tasks)
  const ofTasks = (name: string, help: string, read: (task: TaskFigures) => number) =>
    new GaugeOf({
      name: `ergon_task_${name}`,
      help,
      aggregator: 'max',
      labelNames: ['task'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const task of (await askTasks()) ?? []) this.set({ task: task.name }, read(task))
      },
    })
  ofTasks('runs', 'Runs of a background task', ({ runs }) => runs)
  ofTasks('failures', 'Runs that failed', ({ failures }) => failures)
  ofTasks('dead', 'Jobs that failed at their last attempt', ({ deaths }) => deaths)
  ofTasks('seconds', 'Time that the runs took', ({ spent_ms: spentMs }) => spentMs / 1000)
}

type PowerGauge = { readonly labels?: readonly string[]; readonly read: ReadPower }
type ReadPower = (
  power: PowerFigures,
) => readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[]

/** All figures of a scrape, in a single query; undefined when the answer does not come in time. */
function askOnce<Figures>(
  question: () => Promise<Figures | undefined>,
): () => Promise<Figures | undefined> {
  let asked: Promise<Figures | undefined> | undefined
  return () =>
    (asked ??= Promise.race([
      question().catch(() => undefined),
      pause(ANSWER_MS_MAX, undefined, { ref: false }),
    ]).finally(() => (asked = undefined)))
}
