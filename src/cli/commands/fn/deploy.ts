// ergon fn deploy: bundles a file, prints the changes, and waits until the version answers.
import { basename } from 'node:path'
import { bundleFile } from '#cli/bundle.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { listFunctions, waitForFunction, type DeployedFunction } from '#cli/functions.ts'
import { CommandError, EXIT, mbText, print, printJson, tell, tellWork } from '#cli/output.ts'
import { isSuspendedByAccount, resumedText } from '#cli/versions.ts'
import type { functionReply } from '#contract/functions/functions.ts'

export async function run({ options, words: [path = ''] }: CommandCall): Promise<void> {
  const name = textOption(options, 'name') ?? nameOf(path)
  const wanted = {
    route: textOption(options, 'route'),
    runtime: textOption(options, 'runtime'),
    memory: textOption(options, 'memory'),
    timeout_s: secondsOf(textOption(options, 'timeout')),
    env: variablesOf(options['env']),
    energy_budget: textOption(options, 'energyBudget'),
    on: listOf(options['on']),
    routes: listOf(options['host']),
    schedule: scheduleOf(textOption(options, 'schedule')),
    concurrency: concurrencyOf(textOption(options, 'concurrency')),
  }
  // A file of another language than the runtime's is for the service to refuse.
  const { file, source } = await bundleFile(path)
  const before = (await listFunctions(options)).data.find((one) => one.name === name)
  const answer = await apiPost(options, '/v1/functions', { name, file, source, ...wanted }).catch(
    (error: unknown) => {
      throw inFlags(error)
    },
  )
  // Once the service has taken it: a plan that was refused is none.
  for (const line of planOf(name, wanted, before)) tell(line)
  const { version } = replyOf<typeof functionReply>(answer)
  tellWork(`version ${version} of ${name} is tried`)
  const made = await waitForFunction(options, name, version)
  if (options.json) return printJson(made)
  tell(`version ${version} of ${name} answers (${made.runtime}, ${mbText(made.memory_bytes)})`)
  print(made.url)
}

/** The options of the fields that have other names, as the service names these in its refusals. */
const FLAGS: Readonly<Record<string, string>> = {
  timeout_s: '--timeout',
  energy_budget: '--energy-budget',
  routes: '--host',
  on: '--on',
}

/** The refusal of a field, `Could not accept routes[0]: …`, by the option that was typed. */
export function inFlags(error: unknown): unknown {
  if (!(error instanceof CommandError)) return error
  const [, name = '', rest = ''] =
    /^Could not accept (\w+)(?:\[\d+\])?(:.*)$/s.exec(error.message) ?? []
  const flag = FLAGS[name]
  if (flag === undefined) return error
  const message = `Could not accept ${flag}${rest}`
  return new CommandError(message, error.exitCode, error.next, error.code)
}

type Change = {
  readonly route: string | undefined
  readonly runtime: string | undefined
  readonly memory: string | undefined
  readonly timeout_s: number | undefined
  readonly env: Readonly<Record<string, string>> | undefined
  readonly energy_budget: string | undefined
  readonly on: readonly string[] | undefined
  readonly routes: readonly string[] | undefined
  readonly schedule: string | null | undefined
  readonly concurrency: number | undefined
}

/** `hello` of `src/hello.ts`. */
const nameOf = (path: string): string =>
  basename(path)
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,4}s?$/.test(text)) return Number(text.replace('s', ''))
  throw new CommandError(`Not a number of seconds: ${text}`, EXIT.usage, '--timeout 30')
}

const NONE = 'none'

/** The values of an option that may be repeated; none of them for `none`, which stands alone. */
function listOf(given: unknown): readonly string[] | undefined {
  if (!Array.isArray(given)) return undefined
  if (given.length > 1 && given.includes(NONE))
    throw new CommandError(`"${NONE}" takes all away, and stands alone`, EXIT.usage)
  return given.map(String).filter((one) => one !== NONE)
}

const scheduleOf = (text: string | undefined): string | null | undefined =>
  text === NONE ? null : text

function concurrencyOf(text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,4}$/.test(text)) return text === undefined ? text : Number(text)
  throw new CommandError(`Not a number of requests: ${text}`, EXIT.usage, '--concurrency 20')
}

function variablesOf(given: unknown): Readonly<Record<string, string>> | undefined {
  if (!Array.isArray(given)) return undefined
  return Object.fromEntries(
    given.map((assignment: unknown) => {
      const [, variable, value] = /^([^=]+)=(.*)$/s.exec(String(assignment)) ?? []
      if (variable === undefined || value === undefined)
        throw new CommandError('A variable is NAME=value', EXIT.usage, '--env NAME=value')
      return [variable, value] as const
    }),
  )
}

/** The changes of the deployment, in words. */
function planOf(name: string, wanted: Change, before: DeployedFunction | undefined): string[] {
  const { route, runtime, memory, timeout_s: timeoutS, env, energy_budget: budget } = wanted
  const { on, routes: hosts, schedule, concurrency } = wanted
  const parts = [
    ...(on === undefined ? [] : [`runs for ${on.join(', ') || 'no objects'}`]),
    ...(hosts === undefined ? [] : [`hosts ${hosts.join(', ') || NONE}`]),
    ...(schedule === undefined ? [] : [schedule === null ? 'no schedule' : `runs at ${schedule}`]),
    ...(concurrency === undefined ? [] : [`${concurrency} requests at once`]),
    ...(runtime === undefined ? [] : [`runtime ${runtime}`]),
    ...(memory === undefined ? [] : [`memory ${memory}`]),
    ...(timeoutS === undefined ? [] : [`${timeoutS} s a request`]),
    ...(env === undefined ? [] : [`variables ${Object.keys(env).join(', ')}`]),
    ...(budget === undefined ? [] : [`energy budget ${budget}`]),
  ]
  const details = parts.length === 0 ? '' : ` (${parts.join(', ')})`
  if (before === undefined) return [`create ${name} at ${route ?? `/${name}`}${details}`]
  const moved =
    route === undefined || route === before.route ? '' : `, from ${before.route} to ${route}`
  return [
    `change ${name}: version ${before.version} is followed by another${moved}${details}`,
    ...(isSuspendedByAccount(before) ? [resumedText(name)] : []),
  ]
}
