// Compiled code that cells share. Node keeps it in `<version of Node>-<uid>`, so that nobody runs what
// another user has compiled; ours is the agent's own, and each cell finds it under the name of its uid.
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Names the code in the folder also for a uid; other processes may do so at the same time. */
export function nameCompiledFor(folder: string, uid: number): void {
  const names = new Set(readdirSync(folder))
  for (const version of names) {
    const name = `${version}-${uid}`
    if (!OF_A_VERSION.test(version) || names.has(name)) continue
    try {
      symlinkSync(version, join(folder, name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** As Node names it: v24.21.0-x64-964aae3f; a uid follows in the name of a link. */
const OF_A_VERSION = /^v[\d.]+-\w+-\w+$/
