// ergon evidence create: asks for a pack; waits and downloads where that is wanted.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost } from '#cli/client.ts'
import { downloadPack, stateOf, waitForPack, type PackEntry } from '#cli/evidence.ts'
import { dollars } from '#cli/money.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'

const EXAMPLE = 'ergon evidence create --from 2026-01-01 --to 2026-02-01'

export async function run({ options }: CommandCall): Promise<void> {
  const span = { from: timeOf(options, 'from'), to: timeOf(options, 'to') }
  const made = JSON.parse((await apiPost(options, '/v1/compliance/packs', span)).text) as PackEntry
  tell(`It costs ${dollars(made.ceiling_pusd)} at most`)
  const file = textOption(options, 'out')
  const isAwaited = options['wait'] === true || file !== undefined
  const pack = isAwaited ? await waitForPack(options, made.id) : made
  if (file !== undefined) await downloadPack(options, pack.id, file)
  if (options.json) return printJson(pack)
  print(pack.id)
  if (file !== undefined) tell(`It is in ${file}: ergon evidence verify ${file}`)
  else if (isAwaited) tell(`It is ready: ergon evidence download ${pack.id}`)
  else tell(`It is ${stateOf(pack)}: ergon evidence list`)
}

function timeOf(options: CommandCall['options'], name: 'from' | 'to'): string {
  const text = textOption(options, name)
  if (text === undefined) throw new CommandError(`--${name} is missing`, EXIT.usage, EXAMPLE)
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  const time = new Date(text)
  if (!isTime || Number.isNaN(time.getTime()))
    throw new CommandError(`--${name} is no time: ${text}`, EXIT.usage, EXAMPLE)
  return time.toISOString()
}
