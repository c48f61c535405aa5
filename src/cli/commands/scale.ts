// ergon scale.
import { textOption, type CommandCall } from '#cli/call.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { askWorkload } from '#cli/workloads.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const given = Object.entries(FIELDS).flatMap(([option, field]) => {
    const text = textOption(options, option)
    if (text === undefined) return []
    if (/^\d{1,3}$/.test(text)) return [[field, Number(text)]]
    throw new CommandError(
      `Not a number for --${field.replace('_', '-')}: ${text}`,
      EXIT.usage,
      `ergon scale ${name} --min 1`,
    )
  })
  if (given.length === 0)
    throw new CommandError('Nothing to change', EXIT.usage, `ergon scale ${name} --min 1`)
  const made = await askWorkload(options, name, 'scale', Object.fromEntries(given))
  if (options.json) printJson(made)
  else
    tell(`${name} has ${countText(made.scale)}, of ${made.scale.target_requests} requests at once`)
}

const countText = ({ min, max }: { readonly min: number; readonly max: number }): string =>
  min === max ? `${max} instance${max === 1 ? '' : 's'}` : `${min} to ${max} instances`

/** The fields of a scale by the names of options, as commander gives them. */
const FIELDS = { min: 'min', max: 'max', targetRequests: 'target_requests' }
