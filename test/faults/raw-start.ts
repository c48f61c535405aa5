// A start of the product as somebody at a terminal does it, where the fixture of start-ergon.ts says too
// little: another command line, another user, a start that fails.
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { processesOf } from './processes.ts'
import { marksOf, orphans } from './check.ts'
import { signalProcess } from '#cells/stop.ts'
import { compileCache, seed, seedState } from '../ergon-cache.ts'
import { isSilent, untilHeard } from '../patient-fetch.ts'
import type { ReadyLine } from '../start-ergon.ts'

const ROOT = join(import.meta.dirname, '../..')
export const MAIN: readonly string[] = [process.execPath, join(ROOT, 'src/main.ts')]
const LIMIT_MS = 120_000

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null }
export type RawStart = {
  readonly child: ChildProcess
  /** Rejects when it ends first. */
  ready(): Promise<ReadyLine>
  stderr(): string
  /** The messages of the lines of the log on stderr. Throws for a line that is no line of the log. */
  messages(): string[]
  /** Resolves when stderr matches; rejects when it ends first. */
  says(what: RegExp): Promise<void>
  ended(): Promise<Ended>
}

/** A test, or a whole test file: what is undone after it. */
export type Scope = { readonly after: (undo: () => void) => void }

/**
 * The file that npm scripts run, in a tree of its own that is installed by the word of its stamp: npm ci would remove
 * the packages below the feet of other tests.
 */
export function bootstrapIn(t: Scope): string {
  const tree = mkdtempSync(join(tmpdir(), 'ergon-tree-'))
  t.after(() => rmSync(tree, { recursive: true, force: true }))
  for (const folder of ['scripts', 'node_modules']) mkdirSync(join(tree, folder))
  for (const file of ['scripts/bootstrap.mjs', 'package-lock.json'])
    copyFileSync(join(ROOT, file), join(tree, file))
  for (const folder of ['src', 'docs', 'node_modules/.bin', 'node_modules/.cache'])
    symlinkSync(join(ROOT, folder), join(tree, folder))
  const lock = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')))
  writeFileSync(join(tree, 'node_modules/.ergon-lock'), lock.digest('hex'))
  return join(tree, 'scripts/bootstrap.mjs')
}

/**
 * A data folder that is removed after the test, with whatever still runs on it. `bare` has nothing in it,
 * `fetched` what a first start would bring, `initialised` also a cluster of the state and a key of its
 * signers (3 s of CPU).
 */
export async function newFolder(
  t: Scope,
  has: 'bare' | 'fetched' | 'initialised',
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-test-'))
  if (has !== 'bare') await seed(folder, 'none')
  if (has === 'initialised') await seedState(folder)
  t.after(() => {
    for (const line of processesOf([folder])) signalProcess(Number(line.split(' ')[0]), 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** Starts it in a process group of its own, as a shell does. */
export function startRaw(
  command: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>> } = {},
): RawStart {
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ...compileCache(),
      ERGON_MODELS: 'none',
      ERGON_BALLAST_MIB: '0',
      ...options.env,
    },
  })
  let errors = ''
  let line: ReadyLine | undefined
  let isOver = false
  const waiting = new Set<() => void>()
  const heard = () => waiting.forEach((look) => look())
  child.stderr.on('data', (bytes: Buffer) => {
    errors += bytes.toString()
    heard()
  })
  createInterface({ input: child.stdout }).on('line', (text) => {
    if (!text.startsWith('{"ready":true')) return
    line = JSON.parse(text) as ReadyLine
    heard()
  })
  const gone = once(child, 'close').then(([code, signal]) => {
    isOver = true
    heard()
    return { code, signal } as Ended
  })

  /** Looks at once, and again at each word of it and at its end. */
  function until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(late)
        waiting.delete(look)
        settle()
      }
      const fail = (how: string) => end(() => reject(new Error(`${how}:\n${errors}`)))
      const late = setTimeout(() => fail('It was silent'), LIMIT_MS)
      const look = () => {
        const found = find()
        if (found !== undefined) end(() => resolve(found))
        else if (isOver) fail('It ended')
      }
      waiting.add(look)
      look()
    })
  }
  return {
    child,
    ready: () => until(() => line),
    stderr: () => errors,
    messages: () =>
      errors
        .split('\n')
        .filter((text) => text !== '')
        .map((text) => (JSON.parse(text) as { message: string }).message),
    says: async (what) => void (await until(() => what.exec(errors) ?? undefined)),
    ended: () =>
      Promise.race([
        gone,
        pause(LIMIT_MS, undefined, { ref: false }).then(() => {
          throw new Error(`It does not end:\n${errors}`)
        }),
      ]),
  }
}

/** The processes of an ended instance that still run after a moment. */
export function leftOf(dataFolder: string): Promise<string[]> {
  const runFolder = runFolderOf(dataFolder)
  return orphans({ dataFolder, runFolder })
}

/** The marks by which processes of a data folder are known, also before its first start is done. */
export const marksOfFolder = (dataFolder: string) => marksOf({ dataFolder, runFolder: dataFolder })

export type Reply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** One call of the API. */
export const call = (ready: ReadyLine, path: string, more: CallOptions = {}): Promise<Reply> =>
  untilHeard(
    () => callOnce(ready, path, more),
    ({ status, body }) => !isSilent(status, body),
  )
type CallOptions = { readonly token?: string; readonly body?: object }

/** One that is not made again while the state is silent. */
export function callOnce(ready: ReadyLine, path: string, more: CallOptions = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const token = more.token ?? ready.token
    const sent = request(
      new URL(path, ready.base_url),
      {
        method: more.body === undefined ? 'GET' : 'POST',
        agent: false,
        timeout: 20_000,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          'content-type': 'application/json',
        },
      },
      (response) => {
        textOf(response).then(
          (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
          reject,
        )
      },
    )
    sent.once('timeout', () => sent.destroy(new Error(`no answer: ${path}`)))
    sent.once('error', reject)
    sent.end(more.body === undefined ? undefined : JSON.stringify(more.body))
  })
}

/** Where a data folder says that its sockets are. */
export function runFolderOf(dataFolder: string): string {
  const text = readFileSync(join(dataFolder, 'ergon.json'), 'utf8')
  return (JSON.parse(text) as { runFolder: string }).runFolder
}
