// Compiled code that cells share. Node keeps it in `<version of Node>-<uid>`, so that nobody runs what
// another user has compiled; ours is the agent's own, and each cell finds it under the name of its uid.
import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Names what is in the folder also for a uid. */
export function nameCompiledFor(folder: string, uid: number): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = join(folder, `${entry.name}-${uid}`)
    if (entry.isDirectory() && !existsSync(name)) symlinkSync(entry.name, name)
  }
}
