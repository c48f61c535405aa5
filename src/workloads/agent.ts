// Workloads in the agent: the cells that the ingress wakes, and the reconciler that makes versions live.
import { hash } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import { onceDone } from '#base/once-done.ts'
import { WORKLOAD_LOG_LINES_MAX } from '#contract/workloads/workload-limits.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { ingressAddress } from '#node/functions-address.ts'
import { removals } from '#node/removals.ts'
import type { ServedResources } from '#node/ingress.ts'
import { roomLock } from '#node/room-lock.ts'
import { urlOfHost } from '#contract/functions/functions-address.ts'
import { ownHosts } from '#ingress/own-hosts.ts'
import { endOpenIntervals } from '#resources/intervals.ts'
import { createLogKeeper } from '#resources/keep-logs.ts'
import { reconcile } from '#resources/reconciler.ts'
import { heldOf } from '#resources/resource.ts'
import { WORKLOAD_CELLS, workloadOfCell } from './cell-name.ts'
import { createDockerDriver } from './docker/docker-driver.ts'
import { openEngine } from './docker/open-engine.ts'
import type { WorkloadDriver } from './driver.ts'
import { createCellDriver } from './local-driver.ts'
import { sourceOfCell } from './log-source.ts'
import { keepWantedImages, noteImageWords } from './image-rows.ts'
import { createNodeImages } from './node-images.ts'
import { PULL_IMAGE, type NodePulls } from './pull-image.ts'
import { createPasswordFor } from './registries/passwords.ts'
import { rehostWorkloads } from './rehost.ts'
import { workloadKeyOf, type WorkloadGatewaySettings } from './settings.ts'
import type { WorkloadsTaskSettings } from './tasks.ts'
import { createNodeVolumes, type NodeVolumes } from './volumes/node-volumes.ts'
import { machineLacks } from './volumes/volume-images.ts'
import { keepVolumesOfWorkloads } from './volumes/volume-rows.ts'
import { createWorkloads, type Workloads, type WorkloadsDeps } from './workloads.ts'

export const WORKLOADS_AGENT: AgentProduct = { name: 'workloads', programs: [PULL_IMAGE], open }

/** The time between two checks of the instances that must run. */
const TEND_MS = 5000
const OWN_LEVEL = 'service'
/** Hex digits: engines have names of 63 bytes at most. */
const INSTALLATION_LENGTH = 12
const BYTES_PER_MB = 1_000_000
/** The volumes of an account may have one part of so many, and so may its images. */
const DISK_SHARE = 4

async function open(core: AgentCore): Promise<AgentPart> {
  const { config, data, state, log, cells, ingress } = core
  const isOn = config.workloads && (cells.isolation.admitsTenants || hasEngine(config))
  const address = isOn ? ingressAddress(core) : undefined
  const environmentKey = workloadKeyOf(data.secrets.state)
  const images = {
    privateRegistries: config.privateRegistries,
    imageFolder: config.imageFolder ?? null,
  }
  const settings: WorkloadGatewaySettings = {
    address,
    environmentKey,
    images,
    region: config.region,
    ownHosts: ownHosts(core),
    volumeBytesMax: await shareOfDisk(data, config.accountVolumesMb),
    whyNoVolumes: machineLacks(cells.isolation.level),
  }
  const halves = { gateway: { settings }, tasks: { settings: tasksOf(config) } }
  const volumes = createNodeVolumes(data.at('volumes'), roomLock(core.place.dataFolder))
  const parts = { volumes, settings: images, environmentKey }
  await endOpenIntervals(core, 'workload')
  if (address === undefined) return { ...halves, ...removalsAlone(core, parts) }
  const logs = createLogKeeper({
    state,
    log,
    linesMax: WORKLOAD_LOG_LINES_MAX,
    ownLevel: OWN_LEVEL,
  })
  tellRefusals(core, logs)
  const workloads = await workloadsOf(core, {
    ...parts,
    line: logs.add,
    replaced: (id) => served.replace(id),
    urlOf: (host) => urlOfHost(address, host),
  })
  const served = ingress.serve({
    kind: 'workload',
    use: workloads.use,
  })
  endUnpaid(core, workloads, served)
  await rehostWorkloads(core, address.host)
  const { rows } = await state.query(
    "select from resources where kind = 'workload' and desired <> 'deleted' limit 1",
  )
  if (rows.length > 0) await served.ready()
  const ending = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  return {
    ...halves,
    cells: [{ stage: 'workers', name: WORKLOAD_CELLS }],
    async start() {
      running = Promise.all([
        logs.run(ending.signal),
        reconcileWorkloads(core, { workloads, served }, ending.signal),
        tend(core, workloads, ending.signal),
        keepVolumeRoom(core, volumes, ending.signal),
      ])
    },
    async close() {
      ending.abort()
      workloads.close()
      await running
    },
  }
}

/** The part of a node that runs no workloads: their deletions. */
function removalsAlone(core: AgentCore, parts: WorkloadParts): ReturnType<typeof removals> {
  const nothing = () => undefined
  // With the first deletion: an engine that is away holds up no start of a node that does not need it.
  const idle = onceDone(() =>
    workloadsOf(core, { ...parts, line: nothing, replaced: nothing, urlOf: (host) => host }),
  )
  return removals(core, 'workload', async ({ id }) => await (await idle()).remove(id))
}

/** Works until the signal aborts. Never rejects: volumes work without, as long as others leave them room. */
async function keepVolumeRoom(
  { log }: Pick<AgentCore, 'log'>,
  volumes: Pick<NodeVolumes, 'keepRoom'>,
  signal: AbortSignal,
): Promise<void> {
  let said: string | undefined
  while (!signal.aborted) {
    await volumes.keepRoom(signal).catch((error: unknown) => {
      const what = messageOf(error)
      if (what !== said) log.warn('The room of volumes is not kept from others', { error: what })
      said = what
    })
    await sleep(TEND_MS, signal).catch(() => undefined)
  }
}

/** Why an instance did not reach an address, in its log. */
const tellRefusals = (
  { egress }: AgentCore,
  logs: Pick<ReturnType<typeof createLogKeeper>, 'add'>,
) =>
  egress.onFailure(WORKLOAD_CELLS, ({ cell, text }) =>
    logs.add({
      resource: workloadOfCell(cell),
      source: sourceOfCell(cell),
      level: OWN_LEVEL,
      text,
      isOwn: true,
    }),
  )

/** No account can have all room of the node. */
async function shareOfDisk(
  data: Pick<AgentCore['data'], 'at'>,
  wantedMb: number | undefined,
): Promise<number> {
  if (wantedMb !== undefined) return wantedMb * BYTES_PER_MB
  const { blocks, bsize } = await statfs(data.at('.'))
  return Math.floor((blocks * bsize) / DISK_SHARE)
}

/** A stored byte has one price. */
const tasksOf = (config: AgentCore['config']): WorkloadsTaskSettings => ({
  minuteMs: config.storageMinuteS * 1000,
  retentionDays: config.retentionDays,
  power: { milliwattsPerTb: config.storageMilliwattsPerTb, pueMilli: Number(config.pueMilli) },
})

/** An engine isolates by itself. */
const hasEngine = (config: AgentCore['config']) => config.workloadDriver === 'docker'

type WorkloadParts = Pick<WorkloadsDeps, 'environmentKey'> &
  Pick<NodePulls, 'settings'> & { readonly volumes: NodeVolumes }

async function workloadsOf(
  core: AgentCore,
  {
    settings,
    volumes,
    ...given
  }: WorkloadParts & Pick<WorkloadsDeps, 'line' | 'replaced' | 'urlOf'>,
): Promise<Workloads> {
  const { config, data, state, log, cells, place, accountCells, egress } = core
  const readyMs = config.workloadReadySeconds * 1000
  const { admit } = accountCells
  const images = createNodeImages({
    cells,
    place,
    settings,
    passwordFor: createPasswordFor({
      state,
      environmentKey: given.environmentKey,
      file: config.registryPasswords,
    }),
    admit,
    folder: data.at('images'),
    servedPorts: core.servedPorts,
  })
  const deps = { cells, admit, readyMs, images, volumes, egress }
  const driver = hasEngine(config) ? await dockerDriver(core, deps) : createCellDriver(deps)
  const memoryBytes =
    config.workloadMemoryMb === undefined ? totalmem() : config.workloadMemoryMb * BYTES_PER_MB
  await keepVolumesOfWorkloads({ state, driver })
  await noteImageWords({ state, driver })
  // The files of pulls that ended with an earlier agent are known to nobody.
  await keepWantedImages({ state, driver, log })
  const imageBytesMax = await shareOfDisk(data, config.accountImagesMb)
  return createWorkloads({ state, log, driver, readyMs, memoryBytes, imageBytesMax, ...given })
}

/** Throws settings_invalid where the engine cannot be used. */
async function dockerDriver(
  { config, data, cells: { isolation } }: AgentCore,
  deps: Parameters<typeof createCellDriver>[0],
): Promise<WorkloadDriver> {
  const installation = hash('sha256', data.at('.')).slice(0, INSTALLATION_LENGTH)
  const profilePath = data.at('seccomp.json')
  const given = { isolation, installation, profilePath }
  const opened = await openEngine(config.workloadEngine, given)
  return createDockerDriver({ ...deps, opened, installation })
}

/** Works until the signal aborts. Never rejects. */
const reconcileWorkloads = (
  { state, log }: AgentCore,
  { workloads, served }: { readonly workloads: Workloads; readonly served: ServedResources },
  signal: AbortSignal,
): Promise<void> =>
  reconcile(
    {
      state,
      log,
      kind: 'workload',
      async deploy(resource, wanted, aside) {
        await served.ready()
        served.again(resource.id)
        return await workloads.deploy(resource, wanted, aside)
      },
      async suspend(resource) {
        const held = await heldOf(state, resource.id)
        served.suspend(resource, held)
        await workloads.stop(
          resource.id,
          held === 'balance' || held === 'budget' ? held : 'suspended',
        )
      },
      remove: ({ id }) => workloads.remove(id),
    },
    signal,
  )

/** Never rejects. */
async function tend({ log }: AgentCore, workloads: Workloads, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await workloads.tend(signal).catch((error: unknown) => {
      if (!signal.aborted) log.warn('Workloads are not tended', { error: messageOf(error) })
    })
    await sleep(TEND_MS, signal).catch(() => undefined)
  }
  await workloads.idle()
}

/**
 * Workloads whose energy cannot be paid end, and requests get the reason. A budget that is used up holds a workload until
 * there is some again.
 */
function endUnpaid(
  { accountCells, state }: AgentCore,
  workloads: Pick<Workloads, 'stop'>,
  served: ServedResources,
): void {
  accountCells.onUnpaid(WORKLOAD_CELLS, {
    tell: ({ spec }, why) => served.refuse(workloadOfCell(spec.name), why),
    async stop({ spec }, why) {
      const id = workloadOfCell(spec.name)
      const cause = why.code === 'budget_exhausted' ? 'budget' : 'balance'
      // The next request asks the agent in any case: a refusal that stays would outlast new funds.
      await workloads.stop(id, cause).finally(() => served.allow(id))
    },
    async usedUp(cell) {
      await state.query('select hold_by_budget($1)', [workloadOfCell(cell)])
    },
  })
}
