// ergon evidence create: asks for a pack; waits and downloads where that is wanted.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPostOnce, replyOf } from '#cli/client.ts'
import { downloadPack, stateOf, waitForPack } from '#cli/evidence.ts'
import { dollars } from '#cli/money.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'
import { timeOption } from '#cli/span.ts'
import type { packReply } from '#contract/compliance/compliance.ts'

const EXAMPLE = 'ergon evidence create --from 2026-01-01 --to 2026-02-01'

export async function run({ options }: CommandCall): Promise<void> {
  const span = { from: neededTime(options, 'from'), to: neededTime(options, 'to') }
  const made = replyOf<typeof packReply>(
    await apiPostOnce(options, '/v1/compliance/packs', span, { look: 'ergon evidence list' }),
  )
  tell(`It costs ${dollars(made.ceiling_pusd)} dollars at most`)
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

function neededTime(options: CommandCall['options'], name: 'from' | 'to'): string {
  const time = timeOption(options, name, EXAMPLE)
  if (time === undefined) throw new CommandError(`--${name} is missing`, EXIT.usage, EXAMPLE)
  return time
}
