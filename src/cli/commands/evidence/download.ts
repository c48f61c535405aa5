// ergon evidence download: the file of a pack, whole or not at all.
import { textOption, type CommandCall } from '#cli/call.ts'
import { downloadPack, waitForPack } from '#cli/evidence.ts'
import { print, printJson } from '#cli/output.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const pack = await waitForPack(options, id)
  const file = textOption(options, 'out') ?? `${pack.id}.zip`
  await downloadPack(options, pack.id, file)
  if (options.json) return printJson({ ...pack, file })
  print(file)
}
