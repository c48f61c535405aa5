// The program of an instance, as its image has it or its account: command, variables, signal.
import { constants } from 'node:os'
import { fault } from '#contract/errors.ts'
import { PROXY_VARIABLES } from '#node/egress.ts'
import type { WorkloadSpec } from './driver.ts'

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The account's command replaces both words of the image. Throws workload_failed where there is none. */
export function argvOf({ command, config }: WorkloadSpec): readonly [string, ...string[]] {
  const [program, ...rest] = command ?? [...config.entrypoint, ...config.command]
  if (program === undefined)
    throw fault(
      'workload_failed',
      'Could not start the workload: neither it nor its image has a command',
    )
  return [program, ...rest]
}

/** Later ones come first: those of the account before those of the image, and both before ours. */
export const variablesOf = ({
  config,
  env,
  port,
}: WorkloadSpec): Readonly<Record<string, string>> => ({
  PATH,
  HOME: '/',
  ...PROXY_VARIABLES,
  ...Object.fromEntries(config.env.map(assignment)),
  ...env,
  PORT: String(port),
})

const assignment = (text: string): [string, string] => {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** A name as images have it: `SIGTERM`, `TERM` or a number. */
export function signalOf(text: string): NodeJS.Signals {
  const named = `SIG${text.toUpperCase().replace(/^SIG/, '')}`
  const found = Object.entries(constants.signals).find(
    ([name, number]) => name === named || String(number) === text,
  )
  return (found?.[0] ?? 'SIGTERM') as NodeJS.Signals
}
