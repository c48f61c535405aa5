// The process of background work: the tasks of all areas (products/tasks.ts), and the standing charge of stored
// bytes, which is a loop with a journal of its own. Works under the gateways' uid, as it deletes the blobs that they wrote.
import { randomUUID } from 'node:crypto'
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onceDone } from '#base/once-done.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { nj } from '#base/units.ts'
import { createPayers } from '#identity/payers.ts'
import { createOperatorMarks, processCpuNs } from '#metering/marks.ts'
import { measureBackends } from '#state/backend-cpu.ts'
import { connectState } from '#state/connect.ts'
import { openBackgroundAccounting, type AccountingConfig } from '#node/background-accounting.ts'
import { serveInside } from '#node/inside.ts'
import type { TasksCore, TasksPart } from '#node/tasks-part.ts'
import { createTaskRunner } from '#tasks/runner.ts'
import type { Tasks } from '#tasks/task.ts'
import { BILLED_PAGE } from '#node/meter/gateway-bills.ts'
import { UPKEEP_PAGE } from '#node/meter/upkeep.ts'
import type { UpkeepTotals } from '#metering/upkeep.ts'
import { hasEarlierWork, openPaidWork, type OpenPaidWork } from './paid-work.ts'
import { TASKS_PRODUCTS } from './products/tasks.ts'
import type { StackConfig } from './stack-parts.ts'

export type TasksConfig = AccountingConfig & {
  readonly stack: StackConfig
  /** The journal of the work that accounts pay. */
  readonly paidJournalFolder: string
  /** The settings of each product, by its name. */
  readonly products: Readonly<Record<string, object>>
  readonly socket: string
  readonly logLevel: LogLevel
}

/** One holds the lock of tasks, one reads the CPU of upkeep; the others are for work that requests cause. */
const CONNECTIONS = 4
/** One holds the mover's lock, four move; the others are for all other upkeep. */
const UPKEEP_CONNECTIONS = 7
const PROCESS = 'tasks'

const config = await readConfig<TasksConfig>()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
giveWay()
const address = config.state
const state = connectState({ address, connections: CONNECTIONS, log })
const upkeep = measureBackends('ergon upkeep')
const upkeepState = connectState({
  address,
  connections: UPKEEP_CONNECTIONS,
  measured: upkeep,
  log,
})
const accounting = await openBackgroundAccounting(config, {
  process: PROCESS,
  log,
  marks: createOperatorMarks(),
  // All that a minute costs is known before it is asked for: a wallet keeps the rest.
  leaseLeastNj: nj(0n),
  // It charges for stored bytes.
  draws: 'retention',
})
const { payerOf } = createPayers({ state, clock: systemClock })
let paid: OpenPaidWork | undefined
const core: TasksCore = {
  state,
  charging: accounting.charging,
  payerOf,
  paidWork: onceDone(async () => {
    const own = { ...config, journalFolder: config.paidJournalFolder }
    return (paid = await openPaidWork(own, { payerOf, clock: systemClock, log }))
  }),
  clock: systemClock,
  log,
  secret: config.stack.secret,
  stackParts: onceDone(async () => (await import('./stack-parts.ts')).openStackParts(config.stack)),
  leaves: () => [
    ...parts.flatMap(({ name, part: { leave } }) => (leave ? { name, leave } : [])),
    ...parts.flatMap(({ name, part: { settle } }) => (settle ? { name, leave: settle } : [])),
  ],
}
// Opened for the first deployment as a rule. The next one may be far away, and accounts wait for charges and leases.
if (await hasEarlierWork(state)) await core.paidWork()
const parts: { readonly name: string; readonly part: TasksPart }[] = []
for (const { name, isCaused, open } of TASKS_PRODUCTS) {
  const own = isCaused === true ? core : { ...core, state: upkeepState }
  parts.push({ name, part: await open(own, (config.products[name] ?? {}) as never) })
}
const tasks = Object.assign({}, ...parts.map(({ part }) => part.tasks)) as Tasks
const runner = createTaskRunner({ state, address, tasks, log })
const ending = new AbortController()
const life = randomUUID()
const running = Promise.all(
  [runner, ...parts.map(({ part }) => part)].map((one) => one.run?.(ending.signal)),
)
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  [BILLED_PAGE]: () => paid?.page() ?? null,
  [UPKEEP_PAGE]: async (): Promise<UpkeepTotals> => ({
    life,
    ownNs: processCpuNs() - (paid?.ownNs() ?? 0),
    // The CPU of another machine's state is in no window.
    stateNs: 'url' in address ? 0 : await upkeep.totalNs(state),
  }),
})

process.once('SIGTERM', () => {
  ending.abort()
  void running.then(async () => {
    await inside.close()
    await paid?.close()
    await accounting.close()
    await upkeepState[Symbol.asyncDispose]()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
