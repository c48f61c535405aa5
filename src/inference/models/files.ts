// The files of a model: from an artifact by the assembling child, or where the operator has them.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { messageOf } from '#base/errors.ts'
import type { LogLevel } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { isWithin } from '#cells/view.ts'
import { pathOf } from '#node/cell-specs.ts'
import type { Progress } from '#node/report.ts'

/** Where weights come from: a catalogue artifact (converted where it must be), or a file. */
export type ModelSource =
  | {
      readonly artifact: string
      /** The entry to use, or one in the folder of what is converted. */
      readonly file: string
      readonly convert?: 'q8_0' | 'f16' | 'f32'
    }
  | { readonly path: string }

/** The input of the assembling child, and the lines of its output. */
export type AssembleConfig = {
  readonly model: Extract<ModelSource, { artifact: string }>
  readonly artifactsFolder: string
  readonly modelsFolder: string
  readonly logLevel: LogLevel
  readonly offlineFolder?: string
  /** Check every byte of existing files, and make damaged ones anew. */
  readonly verify: boolean
}
export type AssembleLine =
  | { readonly progress: Progress }
  | { readonly file: string }
  | { readonly error: string }

export type ModelFolders = Omit<AssembleConfig, 'model' | 'verify'>

const MAGIC = 'GGUF'

/**
 * Throws invalid_request for a file that is no GGUF: otherwise the engine would fail twice in a process of its own,
 * and only its log would say why.
 */
export async function demandGguf(path: string): Promise<void> {
  const wrong = await wrongWith(path).catch((error: unknown) => messageOf(error))
  if (wrong !== undefined)
    throw fault('invalid_request', `Could not use the file ${path}: ${wrong}`, { param: 'file' })
}

/**
 * Throws invalid_request for a file whose folder is, or holds, somebody's home, or is everybody's: the process
 * that reads the file sees its folder, and it reads what strangers wrote.
 */
export function demandOwnFolder(path: string, homes: readonly string[] = [homedir()]): void {
  const folder = realpathSync(dirname(path))
  const holds = (home: string) => existsSync(home) && isWithin(realpathSync(home), folder)
  if (folder !== realpathSync(tmpdir()) && !homes.some(holds)) return
  throw fault(
    'invalid_request',
    `Could not use the file ${path}: the process that reads it would see all of ${folder}; put it into a folder of its own`,
    { param: 'file' },
  )
}

async function wrongWith(path: string): Promise<string | undefined> {
  // Opening a pipe would wait for its writer.
  if (!(await stat(path)).isFile()) return 'it is no regular file'
  await using file = await open(path)
  const { bytesRead, buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0)
  return buffer.toString('latin1', 0, bytesRead) === MAGIC
    ? undefined
    : `it is no GGUF file: it does not begin with ${MAGIC}`
}

/**
 * The path of the weights; fetched and converted first where they are absent. When the signal is
 * aborted nothing of that work is left running; a later call takes it up.
 */
export async function modelFile(
  source: ModelSource,
  work: {
    readonly folders: ModelFolders
    readonly environment: Readonly<Record<string, string>>
    readonly progress: (progress: Progress) => void
    readonly verify: boolean
    readonly signal: AbortSignal
  },
): Promise<string> {
  const { folders, environment, progress, verify, signal } = work
  if ('path' in source) {
    await demandGguf(source.path)
    return source.path
  }
  signal.throwIfAborted()
  const child = spawn(
    'setpriv',
    // It converts for seconds without looking up, so a word on fd 3 is not enough: it dies with us.
    [
      '--pdeathsig',
      'KILL',
      '--',
      process.execPath,
      pathOf({ file: 'inference/programs/assemble.ts' }),
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
      env: { ...environment },
      // Ctrl-C at the terminal is for the agent alone.
      detached: true,
      signal,
      killSignal: 'SIGKILL',
    },
  )
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  const gone = new Promise((resolve) => child.once('close', resolve))
  const [, output, , pipe] = child.stdio
  if (!(pipe instanceof Writable) || output === null)
    throw new TypeError('the child has no pipe for its config')
  // It may end before it has read; its end says so.
  pipe.on('error', () => pipe.destroy())
  const config: AssembleConfig = { model: source, verify, ...folders }
  pipe.write(`${JSON.stringify(config)}\n`)
  let result: AssembleLine | undefined
  const read = async () => {
    for await (const text of createInterface({ input: output })) {
      const line = JSON.parse(text) as AssembleLine
      if ('progress' in line) progress(line.progress)
      else result = line
    }
  }
  await Promise.race([read(), failed]).finally(() => gone)
  if (result !== undefined && 'file' in result) return result.file
  const reason =
    result !== undefined && 'error' in result ? result.error : 'the child ended without a word'
  throw fault('model_files_missing', reason)
}
