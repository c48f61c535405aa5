// ergon evidence delete: removes a pack, or ends its work.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { packPath } from '#cli/evidence.ts'
import { printJson, tell } from '#cli/output.ts'
import type { packDeleted } from '#contract/compliance/compliance.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, packPath(id))
  if (options.json) return printJson(replyOf<typeof packDeleted>({ text }))
  tell(`${id} is deleted`)
}
