// The sources of a build of the portal, and their hash, by which a change is noticed.
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the portal's sources. */
export const ROOT = import.meta.dirname
const REPOSITORY = join(ROOT, '..')
/** The verifier of receipts is compiled into the portal; the lock file stands for every package. */
const PATTERNS = [
  'portal/*.{ts,html,json}',
  'portal/src/**/*',
  'src/{base,contract,tlog}/**/*.ts',
  'package-lock.json',
]

/** SHA-256 in hex over the names and contents of all sources, tests excepted. */
export function hashSources(): string {
  const hash = createHash('sha256')
  const found = globSync(PATTERNS, { cwd: REPOSITORY, withFileTypes: true })
  const paths = found
    .filter((entry) => entry.isFile() && !/\.(test|fixture)\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  for (const path of paths.toSorted()) {
    const bytes = readFileSync(path)
    hash.update(`${path.slice(REPOSITORY.length)}\n${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}
