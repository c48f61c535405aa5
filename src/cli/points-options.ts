// The options of commands that give points.
import type { CommandCall } from './call.ts'
import { textOption } from './call.ts'
import { CommandError, EXIT } from './output.ts'

type Points = { kind?: 'points' | 'promotion'; priority?: number; lives_days?: number }

/** Throws a CommandError. */
export function pointsOptions(options: CommandCall['options']): Points {
  const kind = textOption(options, 'kind')
  if (kind !== undefined && kind !== 'points' && kind !== 'promotion')
    throw new CommandError(`--kind is points or promotion, not: ${kind}`, EXIT.usage)
  const priority = wholeOption(options, 'priority')
  const days = wholeOption(options, 'lives')
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(priority === undefined ? {} : { priority }),
    ...(days === undefined ? {} : { lives_days: days }),
  }
}

/** Throws a CommandError. */
export function wholeOption(options: CommandCall['options'], name: string): number | undefined {
  const text = textOption(options, name)
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text))
    throw new CommandError(`--${name} is a whole number, not: ${text}`, EXIT.usage)
  return Number(text)
}
