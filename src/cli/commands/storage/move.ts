// ergon storage move: brings all bodies to where new ones go. It goes on in the storage cell when this
// command is gone; the same command again shows how far it is.
import { textOption, type CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { CommandError, printJson, tell } from '#cli/output.ts'
import type { ControlAnswer } from '#contract/control.ts'

type MoveAnswer = ControlAnswer<'storage.move'>

const MIB = 1_048_576

export async function run({ options }: CommandCall): Promise<void> {
  if (options['stop'] === true) return await stop(options)
  const request = { to: textOption(options, 'to') }
  const move = await control(options, 'storage.move', request, (line) => tell(moveLine(line)))
  if (options.json) printJson(move)
  else tell(`${moveLine(move)}: ${move.state}`)
  for (const { id, location, found } of move.damaged)
    tell(`damaged, and left in ${location}: ${id}: ${found}`)
  if (move.damaged_count > 0)
    throw new CommandError(
      `${move.damaged_count} blobs could not be moved: their bytes are not what was written`,
      undefined,
      'restore them from a copy, then move again',
    )
  if (move.state === 'stopped') throw new CommandError('The move was stopped')
}

async function stop(options: CommandCall['options']): Promise<void> {
  const result = await control(options, 'storage.stop-move', {})
  if (options.json) printJson(result)
  else tell(result.stopped ? 'The move stops; moved bodies stay there' : 'Nothing moves')
}

function moveLine({ to, moved, bytes, permille, failure }: MoveAnswer): string {
  const done = `${moved} blobs, ${Math.floor(bytes / MIB)} MiB moved to ${to}`
  return failure === null ? `${done}, ${permille / 10} % looked at` : `${done}; waits: ${failure}`
}
