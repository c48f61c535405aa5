// Functions that the commands of functions share.
import { sourceName } from '#contract/functions/source-file.ts'
import { apiGet, apiPatch, replyOf } from './client.ts'
import { interruptible } from './interruptible.ts'
import { mbText, printLabelled } from './output.ts'
import type { GlobalOptions } from './profile.ts'
import { answeringText, budgetText, statusText, versionTexts, waitForVersion } from './versions.ts'
import type { functionList, functionReply } from '#contract/functions/functions.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

export type DeployedFunction = ReplyOf<typeof functionReply>

export const functionPath = (name: string): string => `/v1/functions/${encodeURIComponent(name)}`

export const getFunction = async (
  options: GlobalOptions,
  name: string,
): Promise<DeployedFunction> =>
  replyOf<typeof functionReply>(await apiGet(options, functionPath(name)))

export const listFunctions = async (
  options: GlobalOptions,
): Promise<{ readonly data: readonly DeployedFunction[] }> =>
  replyOf<typeof functionList>(await apiGet(options, '/v1/functions'))

export const changeFunction = async (
  options: GlobalOptions,
  name: string,
  change: { readonly suspended?: boolean; readonly energy_budget?: string | null },
): Promise<DeployedFunction> =>
  replyOf<typeof functionReply>(await apiPatch(options, functionPath(name), change))

/** Waits until a version answers; without one, until any does. Throws a CommandError with why it cannot. */
export const waitForFunction = (
  options: GlobalOptions,
  name: string,
  version?: number,
): Promise<DeployedFunction> =>
  interruptible(`The service goes on: ${COMMANDS.show} ${name}`, () =>
    waitForVersion(() => getFunction(options, name), COMMANDS, version),
  )

const COMMANDS = { show: 'ergon fn show', logs: 'ergon fn logs', resume: 'ergon fn resume' }

/** A line for each thing that a user asks of a function; --json has all. */
export function printFunction(one: DeployedFunction): void {
  printLabelled([
    ['name', one.name],
    ['id', one.id],
    ['status', statusText(one)],
    ['address', [one.url, ...one.routes].join(', ')],
    ['version', answeringText(one)],
    ['runtime', `${one.runtime}, ${mbText(one.memory_bytes)}, ${one.timeout_s} s a request`],
    ['at once', `${one.concurrency} request${one.concurrency === 1 ? '' : 's'}`],
    ['variables', one.env.join(', ') || 'none'],
    ...(one.on.length > 0 ? [['objects', one.on.join(', ')] as const] : []),
    ...(one.schedule === null ? [] : [['schedule', `${one.schedule} (UTC)`] as const]),
    ...(one.on.length > 0 || one.schedule !== null
      ? [['runs', `${one.runs_waiting} wait, ${one.runs_failed} failed`] as const]
      : []),
    ['energy budget', budgetText(one)],
    ['created', one.created_at],
    ...versionTexts(one.versions, ({ file }) => sourceName(file)),
  ])
}
