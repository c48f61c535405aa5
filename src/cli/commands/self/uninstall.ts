// ergon self uninstall: removes what `ergon self install` wrote, and nothing else.
import type { CommandCall } from '#cli/call.ts'
import { printJson, tell } from '#cli/output.ts'
import { ownFiles, remove } from '#cli/self.ts'

export async function run(call: CommandCall): Promise<void> {
  const { launcher, completions } = ownFiles(call)
  const removed = [launcher, ...completions].filter(remove).map(({ path }) => path)
  if (call.options.json) return printJson({ removed })
  for (const path of removed) tell(`removed: ${path}`)
  if (removed.length === 0) tell(`nothing of ours is at ${launcher.path}`)
}
