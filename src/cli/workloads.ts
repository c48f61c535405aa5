// Functions that the commands of workloads share.
import { sleep } from '#base/clock.ts'
import { CHANGE_UNDER_WAY } from '#contract/function-limits.ts'
import { TRIED_AGAIN } from '#contract/tried-again.ts'
import { apiGet, apiPost } from './client.ts'
import { CommandError, EXIT, print } from './output.ts'
import type { GlobalOptions } from './profile.ts'

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
  readonly scale: { readonly min: number; readonly max: number }
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

const WAIT_MS = 180_000
const LOOK_MS = 250
/** Reasons that go by themselves. */
const PASSING: ReadonlySet<string | null> = new Set([null, CHANGE_UNDER_WAY, TRIED_AGAIN])

/** Waits until a version answers. Throws a CommandError with why it does not. */
export async function waitForLive(
  options: GlobalOptions,
  name: string,
  version: number,
): Promise<Workload> {
  const lastMs = performance.now() + WAIT_MS
  for (;;) {
    const one = await getWorkload(options, name)
    if (one.status === 'deployed' && one.live_version === version) return one
    const failure = one.versions.find((kept) => kept.version === version)?.failure ?? null
    const why = failure ?? (PASSING.has(one.reason) ? null : one.reason)
    if (why !== null)
      throw new CommandError(
        `Version ${version} of ${name} does not answer: ${why}`,
        EXIT.failed,
        `ergon logs ${name}`,
      )
    if (performance.now() > lastMs)
      throw new CommandError(
        `${name} does not answer yet`,
        EXIT.failed,
        `ergon workloads show ${name}`,
      )
    await sleep(LOOK_MS)
  }
}

const LABEL_WIDTH = 14
const MB = 1_000_000
export const mbOfWorkload = (bytes: number): string => `${Number((bytes / MB).toFixed(1))} MB`

/** A line for each thing that a user asks of a workload; --json has all. */
export function printWorkload(one: Workload): void {
  const { pull } = one
  const lines: (readonly [label: string, text: string])[] = [
    ['name', one.name],
    ['id', one.id],
    ['status', one.reason === null ? one.status : `${one.status}: ${one.reason}`],
    ...(pull === null
      ? []
      : [
          [
            'pulling',
            `${mbOfWorkload(pull.done_bytes)} of ${mbOfWorkload(pull.total_bytes)}`,
          ] as const,
        ]),
    ['address', [one.url, ...one.routes].join(', ')],
    ['image', one.image],
    ['digest', one.digest ?? 'not pulled yet'],
    ['version', `${one.live_version ?? 'none'} answers, ${one.version} is wanted`],
    ['instances', `${one.instances} (min ${one.scale.min}, max ${one.scale.max})`],
    ['sleeps after', one.scale.min > 0 ? 'never' : one.scale_to_zero_after],
    ['size', `${one.cpu} CPU, ${mbOfWorkload(one.memory_bytes)}`],
    ['port', String(one.port ?? 'not known yet')],
    ['health', one.health?.path ?? 'its port is open'],
    ['variables', [...one.env, ...one.secrets].join(', ') || 'none'],
    [
      'energy budget',
      one.energy_budget === null
        ? 'none'
        : `${(one.energy_budget_used_j ?? 0).toFixed(1)} J of ${one.energy_budget}`,
    ],
    ['created', one.created_at],
    ...one.versions.map(
      ({ version, image, created_at, failure }) =>
        [
          `version ${version}`,
          `${created_at}, ${image}${failure === null ? '' : `, failed: ${failure}`}`,
        ] as const,
    ),
  ]
  for (const [label, text] of lines) print(`${label.padEnd(LABEL_WIDTH)} ${text}`)
}
