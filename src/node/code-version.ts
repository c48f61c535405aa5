// The version of our code, and whether a folder of compiled code is of this version.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bundlesIn } from './bundles.ts'

export const SOURCES = dirname(import.meta.dirname)
/** In a folder of compiled code: the version of the code. */
export const STAMP = 'stamp'

/** The version of the programs that a folder has, where that is the version of our code. A start that knows it says so. */
export function compiledVersion(folder: string, known?: string): string | undefined {
  const stamp = join(folder, STAMP)
  if (!existsSync(stamp) || !existsSync(bundlesIn(folder))) return undefined
  const version = known ?? versionOfCode(folder)
  return readFileSync(stamp, 'utf8') === version ? version : undefined
}

/**
 * Changes with Node, the files, their place and that of the bundles: V8's code is of a file at its place. Node itself
 * believes compiled code only of the same source.
 */
export function versionOfCode(folder: string): string {
  const app = dirname(SOURCES)
  const hash = createHash('sha256')
  hash.update(`${process.version} ${app} ${realpathSync(bundlesIn(folder))}\n`)
  for (const path of [...sourcesIn(SOURCES).toSorted(), join(app, 'package-lock.json')]) {
    const { size, mtimeMs } = statSync(path)
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

/** 10 ms of CPU: Node's own recursion takes 45, as it asks the disk for the kind of each file. */
const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return sourcesIn(path)
    return /\.m?[jt]s$/.test(path) && !path.endsWith('.test.ts') ? [path] : []
  })
