// ergon signers new-key: after the loss of shares. The old shard ends, and a new one begins.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const made = await control(options, 'signer.new-key', {})
  if (options.json) return printJson(made)
  tell(`${made.before} has ended; receipts go on in ${made.origin}`)
  if (made.handover !== undefined)
    return tell(
      'The old key names the new one: `ergon receipt verify` of your customers takes it by that',
    )
  tell(`What was left of the old key: ${made.aside}`)
  tell('Tell your customers: their `ergon receipt verify` asks for --accept-new-key once')
}
