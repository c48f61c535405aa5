// Compiled code of our programs, made once for each version of the code and read by every cell. No cell may write it:
// code that a cell had planted there would outlive its restart. A start that finds the folder takes 2 s of CPU
// until everything is up.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { runTool } from '#artifacts/command.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { APP_FOLDER, pathOf } from './cell-specs.ts'
import type { Program } from './program-flags.ts'

const COMPILE_MAX_MS = 60_000
// Cells of every user may read the folder, whatever our umask.
const OPEN_FOLDER = 0o755
const OPEN_FILE = 0o644
const STAMP = 'stamp'
const WORK = 'new'
const EMPTY_FD_3 = 'exec "$@" 3< /dev/null'

/**
 * Compiles the programs into the folder, unless it has this version of them. Never rejects: without it
 * all works, and starts slower, so a failure is logged; the signal ends it early.
 */
export async function compilePrograms(deps: {
  readonly folder: string
  readonly programs: readonly Program[]
  readonly log: Logger
  readonly signal: AbortSignal
}): Promise<void> {
  const { folder, programs, log, signal } = deps
  try {
    const version = versionOfCode()
    const stamp = join(folder, STAMP)
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === version) return
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, OPEN_FOLDER)
    await compile(programs, join(folder, WORK), signal)
    publish(folder)
    writeFileSync(stamp, version)
  } catch (error) {
    if (signal.aborted) return
    log.warn('The programs could not be compiled beforehand', { reason: messageOf(error) })
  }
}

/** Loads the programs in one process: none has a flag that changes the code which V8 makes. */
async function compile(
  programs: readonly Program[],
  work: string,
  signal: AbortSignal,
): Promise<void> {
  const compiler = pathOf({ file: 'node/programs/compile.ts' })
  const argv = [process.execPath, compiler, ...programs.map(pathOf)]
  const done = await runTool(['/bin/sh', '-c', EMPTY_FD_3, 'compile', ...argv], {
    signal,
    timeoutMs: COMPILE_MAX_MS,
    dieWithParent: true,
    environment: { PATH: '/usr/bin:/bin', NODE_ENV: 'production', NODE_COMPILE_CACHE: work },
  })
  if (done.code !== 0)
    throw fault('internal', `Could not compile the programs: ${done.stderr.trim().slice(-500)}`)
}

/** `new/<version of Node>-<our uid>` becomes `<version of Node>`, which every uid may read. */
function publish(folder: string): void {
  const work = join(folder, WORK)
  for (const name of readdirSync(work)) {
    const target = join(folder, name.replace(/-\d+$/, ''))
    renameSync(join(work, name), target)
    for (const file of readdirSync(target)) chmodSync(join(target, file), OPEN_FILE)
    chmodSync(target, OPEN_FOLDER)
  }
  rmSync(work, { recursive: true })
}

/** Changes with Node, the place and the files. Node itself believes compiled code only of the same source. */
function versionOfCode(): string {
  const source = join(APP_FOLDER, 'src')
  const hash = createHash('sha256').update(`${process.version} ${APP_FOLDER}\n`)
  const names = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => join(source, name))
  for (const path of [...names.toSorted(), join(APP_FOLDER, 'package-lock.json')]) {
    const { size, mtimeMs } = statSync(path)
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}
