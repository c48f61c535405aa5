// Copies for tests that are there whole or not at all, as a process may be killed while the process copies.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Locks, and what is being made: files, and the folders of downloads (`test/default-models.ts`). */
const UNFINISHED = /^\.|\.partial$|^partial-/

/**
 * Copies the files and folders of a folder that the other one lacks; both are on any file systems. Never changes
 * a file that is there: a running PostgreSQL may have it by a hard link, and would crash.
 */
export function copyWhole(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  const fresh = join(to, '.new')
  for (const name of readdirSync(from)) {
    if (UNFINISHED.test(name) || existsSync(join(to, name))) continue
    rmSync(fresh, { recursive: true, force: true })
    execFileSync('cp', ['-R', '-p', join(from, name), fresh], { stdio: 'pipe' })
    renameSync(fresh, join(to, name))
  }
}
