// Functions that the commands of workloads share.
import { apiGet, apiPost } from './client.ts'
import { mbText, printLabelled } from './output.ts'
import { sizeText } from '#contract/sizes.ts'
import type { GlobalOptions } from './profile.ts'
import { answeringText, budgetText, statusText, versionTexts, waitForVersion } from './versions.ts'

export type Workload = {
  readonly id: string
  readonly name: string
  readonly region: string
  readonly url: string
  readonly routes: readonly string[]
  readonly image: string
  readonly digest: string | null
  readonly port: number | null
  readonly env: readonly string[]
  readonly secrets: readonly string[]
  readonly cpu: number
  readonly memory_bytes: number
  readonly health: { readonly path: string } | null
  readonly volumes: readonly {
    readonly name: string
    readonly path: string | null
    readonly size_bytes: number
    readonly used_bytes: number
  }[]
  readonly scale: { readonly min: number; readonly max: number; readonly target_requests: number }
  readonly scale_to_zero_after: string
  readonly instances: number
  readonly energy_budget: string | null
  readonly energy_budget_used_j: number | null
  readonly status: string
  readonly reason: string | null
  readonly pull: { readonly done_bytes: number; readonly total_bytes: number } | null
  readonly version: number
  readonly live_version: number | null
  readonly versions: readonly {
    readonly version: number
    readonly image: string
    readonly digest: string | null
    readonly created_at: string
    readonly failure: string | null
  }[]
  readonly created_at: string
}

export const workloadPath = (name: string): string => `/v1/workloads/${encodeURIComponent(name)}`

export const getWorkload = async (options: GlobalOptions, name: string): Promise<Workload> =>
  JSON.parse((await apiGet(options, workloadPath(name))).text) as Workload

export const listWorkloads = async (
  options: GlobalOptions,
): Promise<{ readonly data: readonly Workload[] }> =>
  JSON.parse((await apiGet(options, '/v1/workloads')).text) as { data: Workload[] }

/** POST of one of its verbs. */
export const askWorkload = async (
  options: GlobalOptions,
  name: string,
  verb: 'scale' | 'suspend' | 'resume' | 'rollback',
  body: object = {},
): Promise<Workload> =>
  JSON.parse((await apiPost(options, `${workloadPath(name)}/${verb}`, body)).text) as Workload

/** Waits until a version answers. Throws a CommandError with why it does not. */
export const waitForWorkload = (
  options: GlobalOptions,
  name: string,
  version: number,
): Promise<Workload> => waitForVersion(() => getWorkload(options, name), COMMANDS, version)

const COMMANDS = { show: 'ergon workloads show', logs: 'ergon logs', resume: 'ergon resume' }

/** A line for each thing that a user asks of a workload; --json has all. */
export function printWorkload(one: Workload): void {
  const { pull } = one
  printLabelled([
    ['name', one.name],
    ['id', one.id],
    ['status', statusText(one)],
    ...(pull === null
      ? []
      : [['pulling', `${mbText(pull.done_bytes)} of ${mbText(pull.total_bytes)}`] as const]),
    ['address', [one.url, ...one.routes].join(', ')],
    ['image', one.image],
    ['digest', one.digest ?? 'not pulled yet'],
    ['version', answeringText(one)],
    [
      'instances',
      `${one.instances} (min ${one.scale.min}, max ${one.scale.max}, ${one.scale.target_requests} requests each)`,
    ],
    ['sleeps after', one.scale.min > 0 ? 'never' : one.scale_to_zero_after],
    ['size', `${one.cpu} CPU, ${mbText(one.memory_bytes)}`],
    ...one.volumes.map(
      ({ name, path, size_bytes: size, used_bytes: used }) =>
        [
          `volume ${name}`,
          `${mbText(used)} of ${sizeText(size)}, ${path === null ? 'not mounted' : `at ${path}`}`,
        ] as const,
    ),
    ['port', String(one.port ?? 'not known yet')],
    ['health', one.health?.path ?? 'its port is open'],
    ['variables', [...one.env, ...one.secrets].join(', ') || 'none'],
    ['energy budget', budgetText(one)],
    ['created', one.created_at],
    ...versionTexts(one.versions, ({ image }) => image),
  ])
}
