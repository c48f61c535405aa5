// The removal of trees of files by a child, one tree at a time: a tree of half a million files takes seconds, which the agent
// does not have.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

export interface Removals {
  /** Takes a tree away at once, by a rename, where it is there. */
  take(path: string): void
  /** Begins to remove what was taken, also by an earlier agent. Never throws. */
  run(): void
}

const REMOVED = '.removed'
/** The time for one tree; the next run removes the rest. */
const TREE_MS = 60_000
/** Nothing waits for it. */
const NICE = ['-n', '19']
const PATH = '/usr/bin:/bin'
const run = promisify(execFile)

export function createRemovals(folder: string): Removals {
  const removed = join(folder, REMOVED)
  let count = 0
  let running: Promise<void> | undefined
  let isWanted = false
  const removeAll = async () => {
    while (isWanted) {
      isWanted = false
      for (const name of await readdir(removed).catch(() => []))
        await run('nice', [...NICE, 'rm', '-rf', '--', join(removed, name)], {
          timeout: TREE_MS,
          env: { PATH },
        }).catch(() => undefined)
    }
  }
  return {
    take(path) {
      if (!existsSync(path)) return
      mkdirSync(removed, { recursive: true, mode: 0o700 })
      // Two agents never have one name: an earlier agent's tree may still be there.
      renameSync(path, join(removed, `${process.pid}-${Date.now()}-${count++}-${basename(path)}`))
    },
    run() {
      isWanted = true
      running ??= removeAll().finally(() => (running = undefined))
    },
  }
}
