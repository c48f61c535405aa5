// Bundles of our programs and V8's code of them, made once for each version of the code and read by every cell. No cell
// may write them: code that a cell had planted there would outlive its restart.
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { runTool } from '#artifacts/command.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { AGENT_FILE, bundlesIn } from './bundles.ts'
import { APP_FOLDER, pathOf } from './cell-specs.ts'
import { compiledVersion, SOURCES, STAMP, versionOfCode } from './code-version.ts'
import type { Program } from './program-flags.ts'

const COMPILE_MAX_MS = 60_000
// Cells of every user may read the folder, whatever our umask.
const OPEN_FOLDER = 0o755
const OPEN_FILE = 0o644
const WORK = 'new'
const EMPTY_FD_3 = 'exec "$@" 3< /dev/null'

/**
 * Compiles the programs into the folder, unless it has this version of them. Never rejects: without them programs run
 * from their sources, and start slower, so a failure is logged; the signal ends it early.
 */
export async function compilePrograms(deps: {
  readonly folder: string
  readonly programs: readonly Program[]
  /** The version of our code is computed where this is absent. */
  readonly version?: string | undefined
  readonly log: Logger
  readonly signal: AbortSignal
}): Promise<void> {
  const { folder, programs, version, log, signal } = deps
  const stamp = join(folder, STAMP)
  try {
    if (compiledVersion(folder, version) !== undefined) return
    // Ahead of the rest: what is half removed is not taken for all.
    rmSync(stamp, { force: true })
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(bundlesIn(folder), { recursive: true })
    chmodSync(folder, OPEN_FOLDER)
    // The link leads Node from the bundles to the packages of the sources.
    symlinkSync(join(APP_FOLDER, 'node_modules'), join(folder, 'node_modules'))
    await compile(programs, folder, signal)
    publish(folder)
    writeFileSync(stamp, versionOfCode(folder))
  } catch (error) {
    removeBundles(deps)
    if (signal.aborted) return
    log.warn('The programs could not be compiled beforehand', { reason: messageOf(error) })
  }
}

/** Half of the bundles would be taken for all of them. */
function removeBundles({ folder, log }: { readonly folder: string; readonly log: Logger }): void {
  try {
    rmSync(bundlesIn(folder), { recursive: true, force: true })
  } catch (error) {
    log.warn('Bundles that are not whole could not be removed', { reason: messageOf(error) })
  }
}

/** Loads the programs in one process: none has a flag that changes the code which V8 makes. */
async function compile(
  programs: readonly Program[],
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const compiler = pathOf({ file: 'node/programs/compile.ts' })
  const files = programs.map(({ file }) => file)
  const argv = [process.execPath, compiler, SOURCES, bundlesIn(folder), AGENT_FILE, ...files]
  const done = await runTool(['/bin/sh', '-c', EMPTY_FD_3, 'compile', ...argv], {
    signal,
    timeoutMs: COMPILE_MAX_MS,
    dieWithParent: true,
    environment: {
      PATH: '/usr/bin:/bin',
      NODE_ENV: 'production',
      NODE_COMPILE_CACHE: join(folder, WORK),
    },
  })
  if (done.code !== 0)
    throw fault('internal', `Could not compile the programs: ${done.stderr.trim().slice(-500)}`)
}

/** `new/<version of Node>-<our uid>` becomes `<version of Node>`; every uid may read all. */
function publish(folder: string): void {
  const work = join(folder, WORK)
  const codes = readdirSync(work).map((name) => {
    const code = join(folder, name.replace(/-\d+$/, ''))
    renameSync(join(work, name), code)
    return code
  })
  rmSync(work, { recursive: true })
  for (const open of [...codes, bundlesIn(folder)]) {
    for (const file of readdirSync(open)) chmodSync(join(open, file), OPEN_FILE)
    chmodSync(open, OPEN_FOLDER)
  }
}
