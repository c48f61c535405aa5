// ergon artifacts verify: hashes every file again; a damaged artifact is removed and fetched anew when it is needed.
import { control } from '#cli/client.ts'
import { CommandError, EXIT, print, printJson } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name] }: CommandCall): Promise<void> {
  const verified = await control(options, 'artifact.verify', { name })
  if (options.json) printJson(verified)
  else for (const one of verified) print(`${one.name}  ${one.state}`)
  const removed = verified.filter(({ state }) => state === 'removed').map((one) => one.name)
  if (removed.length > 0)
    throw new CommandError(
      `Damaged and removed: ${removed.join(', ')}; what runs goes on with what it has loaded of it`,
      EXIT.failed,
      'stop Ergon and start it again: npm start fetches it anew',
    )
}
