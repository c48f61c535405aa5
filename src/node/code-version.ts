// The version of our code, and whether a folder of compiled code is of this version.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bundlesIn } from './bundles.ts'

export const SOURCES = dirname(import.meta.dirname)
/** In a folder of compiled code: the version of the code. */
export const STAMP = 'stamp'

/** True of a folder that has this version of the programs. */
export function isCompiled(folder: string): boolean {
  const stamp = join(folder, STAMP)
  if (!existsSync(stamp) || !existsSync(bundlesIn(folder))) return false
  return readFileSync(stamp, 'utf8') === versionOfCode(folder)
}

/**
 * Changes with Node, the files, their place and that of the bundles: V8's code is of a file at its place. Node itself
 * believes compiled code only of the same source.
 */
export function versionOfCode(folder: string): string {
  const app = dirname(SOURCES)
  const hash = createHash('sha256')
  hash.update(`${process.version} ${app} ${realpathSync(bundlesIn(folder))}\n`)
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?[jt]s$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => join(SOURCES, name))
  for (const path of [...names.toSorted(), join(app, 'package-lock.json')]) {
    const { size, mtimeMs } = statSync(path)
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}
