// The node agent: starts, meters and stops every process, ours and tenants'. It listens on no TCP port and sees no
// tenant byte, so nothing that a tenant does can delay it.
//
//     data folder → cells → postgres, compiled code → migrate → meter, session → gateways → READY
//     → signers, jobs, models (in parallel; until then 503 model_loading, receipts 202)
//
// A stop has the reverse order: gateways drain and settle first, the state ends last.
import { arch } from 'node:os'
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { tailing, type LogTail } from '#base/log-tail.ts'
import { createLogger, Secret, type Logger } from '#base/log.ts'
import { createArtifacts } from '#artifacts/fetch.ts'
import { toolEnvironment } from '#config/env.ts'
import type { AgentCore, ReadObject } from '#node/agent-part.ts'
import { createDerivedKeys } from '#s3/authentication/derived-keys.ts'
import { createCells } from '#cells/create-cells.ts'
import type { Config } from '#config/config.ts'
import { createOperatorMarks } from '#metering/marks.ts'
import {
  listenOf,
  ownHttpAddress,
  type AddressedNode,
  type OwnAddress,
} from '#node/own-addresses.ts'
import { startMeterLoop } from '#node/meter/loop.ts'
import { createMeter, readLearned } from '#node/meter/meter.ts'
import { CALIBRATION_FILE } from '#node/meter/model.ts'
import { gatewayNames } from '#node/cell-names.ts'
import { COMPILED_FOLDER } from '#node/bundles.ts'
import { APP_FOLDER } from '#node/cell-specs.ts'
import { compilePrograms } from '#node/compiled.ts'
import {
  openDataFolder,
  programPlace,
  settleDataFolder,
  type DataFolder,
  type OpenFolder,
} from '#node/data-folder.ts'
import { firstAccount, setPrice } from '#node/first-start.ts'
import { createEgress } from '#egress-proxy/agent.ts'
import { createIngress } from '#ingress/agent.ts'
import { startGateways } from './gateways.ts'
import { createKeptJournals } from '#node/kept-journals.ts'
import { settleLeftJournals } from '#node/left-journals.ts'
import { baseUrl, portalUrl, type Reporter } from '#node/report.ts'
import { startState } from '#node/state-cell.ts'
import { refuseNewerJobs } from '#tasks/jobs-schema.ts'
import { ownerLink } from '#portal/owner-link.ts'
import { createStopBudget } from '#node/stop-budget.ts'
import { connectWakes } from '#node/wakes.ts'
import type { State } from '#state/connect.ts'
import { openAccounting, SMALL_SEGMENT_BYTES } from '#node/accounting.ts'
import { openAgentParts } from './agent-parts.ts'
import { openCellCharging } from './cell-charging.ts'
import { PROGRAMS } from './programs.ts'
import { AGENT_PRODUCTS } from './products/agent.ts'
import { SCHEMAS } from './schemas.ts'
import { PAID_WORK } from './paid-work.ts'
import { TASKS_CELL } from './tasks-cell.ts'

export interface Agent {
  /** Stops everything in order; resolves when nothing of it is left. */
  stop(reason: string): Promise<void>
}

type Surroundings = {
  readonly signal: AbortSignal
  /** The version of our code is computed where this is absent. */
  readonly version: string | undefined
  readonly report: Reporter
  readonly logTail: LogTail
}

const AGENT = 'agent'
const JOURNALS = 'journals'
const METER = 'node'
const EXIT_LOST = 74

/**
 * Starts the cloud; resolves when it answers. Models and signers may still be on their way. When the
 * signal is aborted first, it stops what it has started and throws the signal's reason.
 */
export async function startAgent(
  config: Config,
  { signal, version, report, logTail }: Surroundings,
): Promise<Agent> {
  const log = createLogger('agent', { level: config.logLevel, write: tailing(logTail) })
  endOnFault(log)
  const budget = createStopBudget(systemClock)
  await using started = new AsyncDisposableStack()
  const folder = await openDataFolder(config)
  const cells = await openCells(config, folder, log)
  started.defer(() => cells.close(budget.graceMs('state')))
  report.isolation(cells.isolation)
  const data = await settleDataFolder(folder, config)
  started.defer(() => data.close())

  const code = { folder: data.at(COMPILED_FOLDER), programs: PROGRAMS, version }
  const compiling = compilePrograms({ ...code, log, signal })
  const node = { config, data, cells, log, report, signal }
  const running = await startState({ ...node, schemas: SCHEMAS, lost: endLost(log) })
  started.defer(() => budget.within('accounting', running.close))
  await compiling
  const { state, address } = running
  const wakes = connectWakes({ address, state, log })
  // A state that is silent would hold up the stop for its longest answer.
  started.defer(() => budget.within('accounting', async () => await wakes[Symbol.asyncDispose]()))
  await refuseNewerJobs(state)
  if (await setPrice(state, config)) report.newPrice(config)

  const routedTo = `${config.operator}/${config.region}/cpu-${arch()}`
  const meter = await openMeter(node, state, routedTo)
  started.defer(() => meter.close())
  await meter.publish(state)
  const own = [AGENT, TASKS_CELL, ...gatewayNames(config)]
  const left = { journals: data.at(JOURNALS), running: own, meter: METER, state, log }
  await settleLeftJournals({ ...left, signal })
  const { accounting, onFunds } = await openAgentAccounting({ data, state, log })
  started.defer(() => budget.within('accounting', accounting.close))
  const names = { meter: METER, process: AGENT }
  const charged = { accounting, meter, cells, state, log }
  const cellCharging = await openCellCharging({ ...charged, names, wakes, onFunds })
  const { minutes, accountCells, onPayable } = cellCharging
  const loop = startMeterLoop({ meter, session: accounting.session, minutes, state, log })
  started.defer(() => loop.stop())
  started.defer(() => cellCharging.close())

  const products = AGENT_PRODUCTS.flatMap(({ journals }) => journals?.(config) ?? [])
  const journals = createKeptJournals({ ...left, running: [...own, PAID_WORK, ...products] })
  const { leftToMs } = minutes
  const paid = { meter, routedTo, journals, accountCells, onPayable, leftToMs }
  const core = coreOf({ ...node, logTail, state, wakes, address, ...paid })
  const parts = await openAgentParts(AGENT_PRODUCTS, core, signal)
  started.defer(() => parts.stop(budget))
  const shared = { config, data, logTail, cells, address, meter: METER }
  await startGateways({ ...shared, parts: parts.gateway, signal })
  const control = await parts.control()
  started.defer(() => control.close())
  signal.throwIfAborted()
  // Last, so that an interrupted start has no token that it did not show.
  const account = await firstAccount(state)
  const link = await ownerLink(state, account.account, portalUrl({ config, data }))
  report.ready({ config, data, account, ownerLink: link })

  parts.start(report.complete)
  const all = started.move()
  return {
    async stop(reason) {
      log.info('The agent stops', { reason })
      await all[Symbol.asyncDispose]()
    },
  }
}

/** The agent's services that products share. */
function coreOf(
  given: Pick<
    AgentCore,
    'config' | 'data' | 'cells' | 'state' | 'address' | 'meter' | 'routedTo' | 'journals'
  > &
    Pick<AgentCore, 'report' | 'log' | 'accountCells' | 'onPayable' | 'leftToMs' | 'wakes'> &
    Pick<Surroundings, 'logTail'>,
): AgentCore {
  const { config, data, log, logTail } = given
  const keys = createDerivedKeys(new Secret(data.secrets.state))
  const own = ownAddresses(given)
  const core = {
    ...given,
    servedPorts: own.map(({ port }) => port),
    meterName: METER,
    place: programPlace(config, data, logTail),
    artifacts: createArtifacts({
      folder: data.at('artifacts'),
      environment: toolEnvironment(),
      ...(config.artifacts === undefined ? {} : { offlineFolder: config.artifacts }),
      log,
    }),
    keyPairOf: keys.pair,
    async presignedUrl(object: ReadObject) {
      // With it come packages that the agent does not need otherwise.
      const { readAddress } = await import('#s3/authentication/presign.ts')
      const { origin } = new URL(baseUrl({ config, data }))
      return readAddress(object, { keys, origin, region: config.region })
    },
  }
  return { ...core, ingress: createIngress(core), egress: createEgress(core, own) }
}

/** The addresses of the API, and of products. */
const ownAddresses = (node: AddressedNode): readonly OwnAddress[] => [
  ownHttpAddress(baseUrl(node), listenOf(node, 0)),
  ...AGENT_PRODUCTS.flatMap(({ addresses }) => addresses?.(node) ?? []),
]

const openCells = (config: Config, folder: OpenFolder, log: Logger) =>
  createCells({
    runFolder: folder.runFolder,
    dataFolder: folder.path,
    appFolder: APP_FOLDER,
    ...(config.isolation === undefined ? {} : { level: config.isolation }),
    log,
    clock: systemClock,
  })

type OwnMeterDeps = Pick<
  Parameters<typeof createMeter>[0],
  'config' | 'cells' | 'log' | 'signal'
> & {
  readonly data: DataFolder
}

/** The meter of the node, with the rates that an earlier life learned. */
async function openMeter({ data, ...deps }: OwnMeterDeps, state: State, routedTo: string) {
  const learned = await readLearned(state, METER, deps.log)
  return await createMeter({
    ...deps,
    name: METER,
    routedTo,
    calibrationFile: data.at(CALIBRATION_FILE),
    ...(learned !== undefined && { learned }),
  })
}

async function openAgentAccounting(deps: { data: DataFolder; state: State; log: Logger }) {
  const funded: ((account: string) => void)[] = []
  const accounting = await openAccounting({
    process: AGENT,
    meter: METER,
    journalFolder: deps.data.at(JOURNALS, AGENT),
    segmentBytes: SMALL_SEGMENT_BYTES,
    // A hold of a cell is open for minutes: the agent's own CPU would be on the bill of the account.
    marks: createOperatorMarks(),
    // It charges for cells.
    draws: 'grace',
    state: deps.state,
    log: deps.log,
    forget(changes) {
      // Changes of a whole account, such as new funds, name no token.
      for (const { token, account } of changes)
        if (token === null) for (const act of funded) act(account)
    },
    failed: endLost(deps.log),
  })
  return { accounting, onFunds: (act: (account: string) => void) => void funded.push(act) }
}

const endLost =
  (log: Logger) =>
  (error: unknown): never => {
    log.error('The agent has lost its journal, its session or the state', { error })
    process.exit(EXIT_LOST)
  }
