// Workloads of description files.
import { durationText } from '#contract/values/durations.ts'
import { bytesOfSize, sizeText } from '#contract/values/sizes.ts'
import { WORKLOAD_VOLUME } from '#contract/workloads/workload-limits.ts'
import { removeOf } from '#resources/delete-resource.ts'
import { BUDGET, foundBudget, variableAttributes } from '#resources/stack-attributes.ts'
import {
  type FoundResource,
  type StackAttribute,
  type StackAttributes,
  type StackPart,
  type StackProduct,
} from '#resources/stack-part.ts'
import { applyVersions, progressOfVersions, versionThere } from '#resources/stack-versions.ts'
import { openVariables } from '#resources/variables.ts'
import type { Queryable } from '#state/connect.ts'
import { changeWorkload, deployWorkload, smallerVolume } from './operations/workload-deploy.ts'
import { SHOWN_WORKLOADS, type WorkloadRow } from './find-workload.ts'
import { createWorkloadRollBack } from './operations/workload-rollback.ts'
import { mountedVolumes, readWorkloadVersion, type WorkloadVersion } from './read-version.ts'
import type { WorkloadVolume } from './driver.ts'
import type { WorkloadGatewaySettings } from './settings.ts'
import {
  assertWorkloadServed,
  cpuText,
  commandText,
  stackedWorkload,
  volumeOf,
  volumePath,
  volumeSize,
  workloadAttributes,
} from './stack-wish.ts'

const BYTES_PER_MB = 1_000_000

export const WORKLOADS_STACK: StackProduct<WorkloadGatewaySettings> = {
  name: 'workloads',
  open: (_, settings) => ({ workload: createWorkloadPart(settings) }),
}

/** Attributes that make no version. */
const OF_WORKLOAD: ReadonlySet<string> = new Set([
  'scale.min',
  'scale.max',
  'scale.target_requests',
  'scale_to_zero_after',
  BUDGET,
])

const createWorkloadPart = (settings: WorkloadGatewaySettings): StackPart<'workload'> => ({
  secretOutputs: [],
  exclusive: [],
  wanted(wish) {
    assertWorkloadServed(wish, settings)
    return workloadAttributes(wish)
  },
  assertChange: assertVolumes,
  find: (state, { account, name }) => findIt(state, settings, account, name),
  apply: applyVersions<'workload'>({
    find: SHOWN_WORKLOADS.find,
    rollBack: createWorkloadRollBack(settings),
    ofResource: OF_WORKLOAD,
    deploy(transaction, call, { wish, found }) {
      const request = stackedWorkload(wish, Object.keys(found?.dataOf ?? {}).map(volumeOf))
      return deployWorkload(transaction, call, { request, settings })
    },
    change(transaction, call, { wish, found }) {
      const { scale, scale_to_zero_after, energy_budget = null } = stackedWorkload(wish, [])
      return changeWorkload(transaction, call, {
        action: 'workload.update',
        workload: found.id,
        change: { scale, scale_to_zero_after, energy_budget },
        settings,
      })
    },
  }),
  remove: removeOf('workload'),
})

async function findIt(
  state: Queryable,
  settings: WorkloadGatewaySettings,
  account: string,
  name: string,
): Promise<FoundResource | undefined> {
  const row = await SHOWN_WORKLOADS.named(state, account, name)
  if (row === undefined) return undefined
  const shown = SHOWN_WORKLOADS.replyOf(row, settings)
  const there = versionThere(row)
  const version = there === null ? undefined : await readWorkloadVersion(state, row.id, there)
  return {
    id: row.id,
    attributes: {
      'scale.min': String(row.scale_min),
      'scale.max': String(row.scale_max),
      'scale.target_requests': String(row.target_requests),
      scale_to_zero_after: shown.scale_to_zero_after,
      ...foundBudget(shown),
      ...(version && attributesOf(version, settings)),
    },
    outputs: { id: row.id, url: shown.url },
    ...dataOf(row),
    progress: progressOfVersions(shown),
  }
}

/** Throws volume_smaller. */
function assertVolumes({ attributes }: FoundResource, wanted: StackAttributes): void {
  for (const name of Object.keys(attributes).map(volumeOf)) {
    const [before, after] = [attributes, wanted].map((all) => bytesOf(all[volumeSize(name)]))
    if (before !== undefined && after !== undefined && after < before) throw smallerVolume(name)
  }
}

const bytesOf = (size: StackAttribute | undefined): number | undefined =>
  typeof size === 'string' ? bytesOfSize(size, WORKLOAD_VOLUME) : undefined

/** Volumes with what they hold, by the attributes that they go with. */
function dataOf({ volumes }: WorkloadRow): Pick<FoundResource, 'holds' | 'dataOf'> {
  const made = volumes.filter(({ size_bytes: bytes }) => bytes > 0)
  const words = made.map(
    ({ name, used_bytes: bytes }) =>
      [
        volumePath(name),
        `volume ${name} (${Number((bytes / BYTES_PER_MB).toFixed(1))} MB)`,
      ] as const,
  )
  return {
    holds: words.length === 0 ? undefined : words.map(([, text]) => text).join(', '),
    dataOf: Object.fromEntries(words),
  }
}

function attributesOf(
  { account, image, port, command, cpuMilli, memoryBytes, health, ...version }: WorkloadVersion,
  { environmentKey }: WorkloadGatewaySettings,
): StackAttributes {
  const open = (sealed: string) =>
    openVariables(sealed, { kind: 'workload', account, environmentKey })
  return {
    image,
    ...(port !== null && { port: String(port) }),
    ...(command && { command: commandText(command) }),
    cpu: cpuText(cpuMilli),
    memory: sizeText(Number(memoryBytes)),
    ...(health && {
      'health.path': health.path,
      'health.interval': durationText(health.intervalMs),
      'health.timeout': durationText(health.timeoutMs),
    }),
    ...Object.assign({}, ...mountedVolumes(version.volumes).map(volumeAttributes)),
    ...variableAttributes('env', open(version.sealedEnv)),
    ...variableAttributes('secret', open(version.sealedSecrets)),
  }
}

const volumeAttributes = ({ name, path, bytes }: WorkloadVolume): StackAttributes => ({
  [volumePath(name)]: path,
  [volumeSize(name)]: sizeText(bytes),
})
