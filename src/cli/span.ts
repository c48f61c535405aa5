// The time that a command is about: --from and --to, or --since.
import { textOption, type CommandCall } from './call.ts'
import { sinceOf } from './duration.ts'
import { CommandError, EXIT } from './output.ts'

export const SPAN_OPTIONS: readonly [flags: string, help: string][] = [
  ['--from <time>', 'in place of --since: from then on, such as 2026-11-01 (UTC)'],
  ['--to <time>', 'to before then, such as 2026-12-01'],
]

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/

/** The time of an option, of UTC where it names no zone; undefined where it is not given. `example` would be right. */
export function timeOption(
  options: CommandCall['options'],
  name: string,
  example: string,
): string | undefined {
  const text = textOption(options, name)
  if (text === undefined) return undefined
  const form = TIME.exec(text)
  // A day alone is of UTC already.
  const isZoned = form?.[1] !== undefined || !text.includes('T')
  const time = new Date(isZoned ? text : `${text}Z`)
  if (form === null || Number.isNaN(time.getTime()))
    throw new CommandError(`--${name} is no time: ${text}`, EXIT.usage, example)
  return time.toISOString()
}

export type SpanWords = { readonly from?: string; readonly to?: string }

/** `from` and `to` as the API takes them, as far as the options have them. */
export function spanOf(options: CommandCall['options'], example: string): SpanWords {
  const from = timeOption(options, 'from', example)
  const to = timeOption(options, 'to', example)
  const since = options['since']
  if (since !== undefined && (from !== undefined || to !== undefined))
    throw new CommandError('Give --since, or --from and --to', EXIT.usage, example)
  if (from !== undefined && to !== undefined && from > to)
    throw new CommandError(`--to is before --from: ${String(options['to'])}`, EXIT.usage, example)
  if (since !== undefined) return { from: sinceOf(since).toISOString() }
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}
