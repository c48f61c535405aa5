// Functions that the commands of functions share.
import { sleep } from '#base/clock.ts'
import { CHANGE_UNDER_WAY } from '#contract/function-limits.ts'
import { TRIED_AGAIN } from '#contract/tried-again.ts'
import { apiGet, apiPatch } from './client.ts'
import { CommandError, EXIT, print } from './output.ts'
import type { GlobalOptions } from './profile.ts'

export type DeployedFunction = {
  readonly id: string
  readonly name: string
  readonly region: string
  readonly url: string
  readonly route: string
  readonly runtime: string
  readonly memory_bytes: number
  readonly timeout_s: number
  readonly env: readonly string[]
  readonly energy_budget: string | null
  readonly energy_budget_used_j: number | null
  readonly on: readonly string[]
  readonly schedule: string | null
  readonly concurrency: number
  readonly runs_waiting: number
  readonly runs_failed: number
  readonly status: string
  readonly reason: string | null
  readonly version: number
  readonly live_version: number | null
  readonly versions: readonly {
    readonly version: number
    readonly file: string
    readonly runtime: string
    readonly memory_bytes: number
    readonly created_at: string
    readonly failure: string | null
  }[]
  readonly created_at: string
}

export const functionPath = (name: string): string => `/v1/functions/${encodeURIComponent(name)}`

export const getFunction = async (
  options: GlobalOptions,
  name: string,
): Promise<DeployedFunction> =>
  JSON.parse((await apiGet(options, functionPath(name))).text) as DeployedFunction

export const listFunctions = async (
  options: GlobalOptions,
): Promise<{ readonly data: readonly DeployedFunction[] }> =>
  JSON.parse((await apiGet(options, '/v1/functions')).text) as { data: DeployedFunction[] }

export const changeFunction = async (
  options: GlobalOptions,
  name: string,
  change: { readonly suspended?: boolean; readonly energy_budget?: string | null },
): Promise<DeployedFunction> =>
  JSON.parse((await apiPatch(options, functionPath(name), change)).text) as DeployedFunction

const WAIT_MS = 120_000
const LOOK_MS = 100
const LOOK_MAX_MS = 2000
const LOOK_GROWTH = 1.5
/** Reasons that go by themselves. */
const PASSING: ReadonlySet<string | null> = new Set([null, CHANGE_UNDER_WAY, TRIED_AGAIN])

/** Waits until a version answers; without one, until any does. Throws a CommandError with why it cannot. */
export async function waitForVersion(
  options: GlobalOptions,
  name: string,
  version?: number,
): Promise<DeployedFunction> {
  const lastMs = performance.now() + WAIT_MS
  for (let lookMs = LOOK_MS; ; lookMs = Math.min(lookMs * LOOK_GROWTH, LOOK_MAX_MS)) {
    const one = await getFunction(options, name)
    if (isAnswering(one, version)) return one
    const error = whyNever(one, version ?? one.version)
    if (error !== undefined) throw error
    if (performance.now() > lastMs)
      throw new CommandError(
        `${name} does not answer yet${one.reason === null ? '' : `: ${one.reason}`}`,
        EXIT.failed,
        `ergon fn show ${name}`,
      )
    await sleep(lookMs)
  }
}

const isAnswering = ({ status, live_version: live }: DeployedFunction, version?: number): boolean =>
  status === 'deployed' && live !== null && (version === undefined || live === version)

/** Why a version will not answer unless its account does something. */
function whyNever(one: DeployedFunction, version: number): CommandError | undefined {
  const { name, status, reason, live_version: live } = one
  if (status === 'suspended' && reason === null)
    return new CommandError(
      `${name} is suspended: its account asked for that`,
      EXIT.failed,
      `ergon fn resume ${name}`,
    )
  const still = live === null || status !== 'deployed' ? '' : `version ${live} still answers; `
  const failure = one.versions.find((kept) => kept.version === version)?.failure
  if (typeof failure === 'string' && live !== version && status !== 'suspended')
    return new CommandError(
      `Could not start version ${version} of ${name}: ${failure}`,
      EXIT.failed,
      `${still}ergon fn logs ${name}`,
    )
  if (PASSING.has(reason)) return undefined
  return new CommandError(
    `Version ${version} of ${name} does not answer: ${reason}`,
    EXIT.failed,
    `${still}ergon fn show ${name}`,
  )
}

const LABEL_WIDTH = 14
const MB = 1_000_000
export const mbOf = (bytes: number): string => `${Number((bytes / MB).toFixed(1))} MB`

/** A line for each thing that a user asks of a function; --json has all. */
export function printFunction(one: DeployedFunction): void {
  const lines: (readonly [label: string, text: string])[] = [
    ['name', one.name],
    ['id', one.id],
    ['status', one.reason === null ? one.status : `${one.status}: ${one.reason}`],
    ['address', one.url],
    ['version', `${one.live_version ?? 'none'} answers, ${one.version} is wanted`],
    ['runtime', `${one.runtime}, ${mbOf(one.memory_bytes)}, ${one.timeout_s} s a request`],
    ['at once', `${one.concurrency} requests`],
    ['variables', one.env.join(', ') || 'none'],
    ...(one.on.length > 0 ? [['objects', one.on.join(', ')] as const] : []),
    ...(one.schedule === null ? [] : [['schedule', `${one.schedule} (UTC)`] as const]),
    ...(one.on.length > 0 || one.schedule !== null
      ? [['runs', `${one.runs_waiting} wait, ${one.runs_failed} failed`] as const]
      : []),
    [
      'energy budget',
      one.energy_budget === null
        ? 'none'
        : `${(one.energy_budget_used_j ?? 0).toFixed(1)} J of ${one.energy_budget}`,
    ],
    ['created', one.created_at],
    ...one.versions.map(
      ({ version, file, created_at, failure }) =>
        [
          `version ${version}`,
          `${created_at}, ${file}${failure === null ? '' : `, failed: ${failure}`}`,
        ] as const,
    ),
  ]
  for (const [label, text] of lines) print(`${label.padEnd(LABEL_WIDTH)} ${text}`)
}
