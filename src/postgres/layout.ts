// Where the parts of a PostgreSQL lie, found from its folder of programs as the server itself finds
// them: by the path between the two. Needs no running program, as initdb --show refuses root.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { runTool } from '#artifacts/command.ts'
import { ErgonError } from '#base/errors.ts'

import { postgresFault } from './faults.ts'

const VERSION_MAX_MS = 20_000

export type Layout = {
  readonly version: string
  readonly binFolder: string
  readonly libFolder: string
  readonly shareFolder: string
  readonly vector: boolean
  /** The version of pgvector that CREATE EXTENSION installs. */
  readonly vectorVersion?: string
}

/** Looks at a folder of programs. Throws postgres_missing or postgres_version (only 16 will do). */
export async function layoutOf(binFolder: string, signal: AbortSignal): Promise<Layout> {
  const version = await versionOf(join(binFolder, 'postgres'), signal)
  const root = dirname(binFolder)
  // The second and third are Debian's: /usr/lib/postgresql/16/lib and /usr/share/postgresql/16.
  const libFolder = firstWith('plpgsql.so', [join(root, 'lib', 'postgresql'), join(root, 'lib')])
  const shareFolder = firstWith('extension/plpgsql.control', [
    join(root, 'share', 'postgresql'),
    join(root, 'share'),
    join(dirname(dirname(dirname(root))), 'share', 'postgresql', '16'),
  ])
  const control = join(shareFolder, 'extension', 'vector.control')
  const vector = existsSync(join(libFolder, 'vector.so')) && existsSync(control)
  const text = vector ? await readFile(control, 'utf8') : ''
  const found = /^\s*default_version\s*=\s*'([^']+)'/m.exec(text)?.[1]
  const vectorVersion = found === undefined ? {} : { vectorVersion: found }
  return { version, binFolder, libFolder, shareFolder, vector, ...vectorVersion }
}

async function versionOf(program: string, signal: AbortSignal): Promise<string> {
  const version = await printedVersion(program, signal)
  if (version.split('.')[0] === '16') return version
  throw postgresFault('postgres_version', `PostgreSQL 16 is needed, not ${version}: ${program}`)
}

async function printedVersion(program: string, signal: AbortSignal): Promise<string> {
  try {
    const done = await runTool([program, '--version'], { signal, timeoutMs: VERSION_MAX_MS })
    const version = /^postgres \(PostgreSQL\) (\d+\.\d+)/.exec(done.stdout)?.[1]
    if (version !== undefined) return version
    throw postgresFault(
      'postgres_missing',
      `Not a PostgreSQL server: ${program}: ${done.stderr.trim()}`,
    )
  } catch (error) {
    if (!(error instanceof ErgonError) || error.code !== 'artifact_tool_missing') throw error
    throw postgresFault('postgres_missing', `There is no PostgreSQL server at: ${program}`, error)
  }
}

function firstWith(file: string, folders: readonly string[]): string {
  const found = folders.find((folder) => existsSync(join(folder, file)))
  if (found !== undefined) return found
  throw postgresFault(
    'postgres_missing',
    `No ${file} of PostgreSQL in any of: ${folders.join(', ')}`,
  )
}
