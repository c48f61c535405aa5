// Functions that the commands of functions and workloads share: both are made live version by version.
import { sleep } from '#base/clock.ts'
import { CHANGE_UNDER_WAY, PASSING_REASONS } from '#contract/resources/passing-reasons.ts'
import { CommandError, EXIT, type LabelledText } from './output.ts'

type ShownVersion = {
  readonly version: number
  readonly created_at: string
  readonly failure: string | null
}

/** A resource with versions, as the API shows it. */
export type VersionedResource = {
  readonly name: string
  readonly status: string
  readonly reason: string | null
  readonly version: number
  readonly live_version: number | null
  readonly versions: readonly ShownVersion[]
  readonly energy_budget: string | null
  readonly energy_budget_used_j: number | null
}

const WAIT_MS = 180_000
const LOOK_MS = 100
const LOOK_MAX_MS = 2000
const LOOK_GROWTH = 1.5

/**
 * Reads again and again until a version answers; without one, until any does. Throws a CommandError with why it cannot
 * and the next command.
 */
export async function waitForVersion<One extends VersionedResource>(
  read: () => Promise<One>,
  commands: { readonly show: string; readonly logs: string; readonly resume: string },
  version?: number,
): Promise<One> {
  const lastMs = performance.now() + WAIT_MS
  for (let lookMs = LOOK_MS; ; lookMs = Math.min(lookMs * LOOK_GROWTH, LOOK_MAX_MS)) {
    const one = await read()
    if (isAnswering(one, version)) return one
    const error = whyNever(one, commands, version ?? one.version)
    if (error !== undefined) throw error
    if (performance.now() > lastMs)
      throw new CommandError(
        `${one.name} does not answer yet${one.reason === null ? '' : `: ${one.reason}`}`,
        EXIT.failed,
        `${commands.show} ${one.name}`,
      )
    await sleep(lookMs)
  }
}

/** True for the live version once its change has ended: before that the version gets no requests. */
const isAnswering = (
  { status, reason, live_version: live }: VersionedResource,
  version?: number,
): boolean =>
  status === 'deployed' &&
  reason !== CHANGE_UNDER_WAY &&
  live !== null &&
  (version === undefined || live === version)

/** Suspended by its account, not for want of energy or money. */
export const isSuspendedByAccount = ({
  status,
  reason,
}: Pick<VersionedResource, 'status' | 'reason'>): boolean =>
  status === 'suspended' && reason === null

/** The words of a deployment or a rollback for such a resource. */
export const resumedText = (name: string): string => `${name} is suspended: this resumes it`

/** Why a version will not answer unless its account does something. */
function whyNever(
  one: VersionedResource,
  commands: Parameters<typeof waitForVersion>[1],
  version: number,
): CommandError | undefined {
  const { name, status, reason, live_version: live } = one
  if (isSuspendedByAccount(one))
    return new CommandError(
      `${name} is suspended: its account asked for that`,
      EXIT.failed,
      `${commands.resume} ${name}`,
    )
  const still = live === null || status !== 'deployed' ? '' : `version ${live} still answers; `
  const failure = one.versions.find((kept) => kept.version === version)?.failure
  if (typeof failure === 'string' && live !== version && status !== 'suspended')
    return new CommandError(
      `Could not start version ${version} of ${name}: ${failure}`,
      EXIT.failed,
      `${still}${commands.logs} ${name}`,
    )
  if (reason === null || PASSING_REASONS.has(reason)) return undefined
  return new CommandError(
    `Version ${version} of ${name} does not answer: ${reason}`,
    EXIT.failed,
    `${still}${commands.show} ${name}`,
  )
}

export const statusText = ({ status, reason }: VersionedResource): string =>
  reason === null ? status : `${status}: ${reason}`

export const answeringText = ({ live_version: live, version }: VersionedResource): string =>
  `${live ?? 'none'} answers, ${version} is wanted`

export const budgetText = ({
  energy_budget: budget,
  energy_budget_used_j: usedJ,
}: VersionedResource) => (budget === null ? 'none' : `${(usedJ ?? 0).toFixed(1)} J of ${budget}`)

/** A line for each version; `of` is what it runs. */
export const versionTexts = <One extends ShownVersion>(
  versions: readonly One[],
  of: (version: One) => string,
): LabelledText[] =>
  versions.map((one) => [
    `version ${one.version}`,
    `${one.created_at}, ${of(one)}${one.failure === null ? '' : `, failed: ${one.failure}`}`,
  ])
