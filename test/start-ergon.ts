// A whole Ergon for tests: `src/main.ts --json` on a temporary data folder and free ports, as a stranger
// would start it. One server is meant to be shared by all tests of a file.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import {
  CONTROL,
  type ControlAnswer,
  type ControlName,
  type ControlRequest,
} from '#contract/control.ts'
import { PRODUCT_ENDED } from '../scripts/test-reporter.ts'
import { createCliProcess, type CliProcess, type Outcome } from './cli-process.ts'
import { compileCache, seed, seedState } from './ergon-cache.ts'
import { startExternalState } from './external-state.ts'
import './patient-fetch.ts'
import { freeBlock, portFlags } from './ports.ts'

const ROOT = join(import.meta.dirname, '..')
const START_MAX_MS = 150_000
const MODEL_MAX_MS = 120_000
/** Shown lines of the log of a product that ends by itself. */
const LINES_SHOWN = 20
const STOP_MAX_MS = 30_000
const ATTEMPTS = 5
/** The same tests on a PostgreSQL that is not the product's own: ERGON_TEST_STATE=external. */
export const IS_EXTERNAL = process.env['ERGON_TEST_STATE'] === 'external'

export type ErgonOptions = {
  /** ERGON_MODELS: 'none' (default), 'default', or names by comma. */
  readonly models?: string
  /** Further settings by their names in the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Further flags. */
  readonly flags?: readonly string[]
  /** Its state is a PostgreSQL elsewhere, as DATABASE_URL names. */
  readonly external?: true
  /** Further settings for the first life alone. */
  readonly life?: Life
}

/** Settings by their names in the environment, for one life: from a start to its end. */
export type Life = Readonly<Record<string, string>>

/** The one JSON line that the product prints when it answers. */
export type ReadyLine = {
  readonly ready: true
  readonly base_url: string
  readonly account_id: string
  readonly token?: string
} & Readonly<Record<string, unknown>>

export interface Ergon extends AsyncDisposable {
  readonly baseUrl: string
  readonly port: number
  readonly account: string
  /** The token of the first start: scope deploy. */
  readonly token: string
  /** The line of its last start: the addresses follow its settings. */
  readonly ready: ReadyLine
  readonly dataFolder: string
  /** The folder of the sockets, recorded in the data folder. */
  readonly runFolder: string
  /** The agent's process id. */
  readonly pid: number
  readonly isRunning: boolean
  /** The further settings of this life. */
  readonly life: Life
  /** The product's stderr so far. */
  readonly stderr: () => string
  /** Runs a statement on the product's own state. */
  sql<R extends pg.QueryResultRow = Record<string, string>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<R[]>
  /**
   * Calls an operation of the operator on control.sock. Rejects with its error's message, or when the answer is not
   * what the contract says.
   */
  control<Name extends ControlName>(
    name: Name,
    request?: ControlRequest<Name>,
  ): Promise<ControlAnswer<Name>>
  /**
   * Runs the command line as its operator, with the first token; resolves when it has ended. All commands run in one
   * process, one after another.
   */
  cli(...words: readonly string[]): Promise<Outcome>
  /** The process of `cli`, for commands with another environment. */
  readonly commands: CliProcess
  /** The process id of a cell, such as gw-1 or model-<id>. */
  pidOf(cell: string): Promise<number>
  /**
   * kill -9 of a cell, as `ergon status` names its process; resolves when nothing of that life is left:
   * what runs below the process that was killed may answer for a moment longer.
   */
  killCell(cell: string): Promise<void>
  /** Resolves when the gateway is ready, as after it was killed. */
  answers(): Promise<void>
  /** The gateway's state of a model: ready, loading or failed; undefined for an unknown model. */
  modelState(id: string): Promise<string | undefined>
  /** Resolves when the model answers; rejects with the reason when it failed. */
  waitForModel(id: string): Promise<void>
  /** kill -9 of the agent; what it leaves behind is for the caller to look at. */
  kill(): Promise<void>
  /** Starts it again on the same data folder after its end, with further settings for this life. */
  resume(life?: Life): Promise<void>
  /** Stops it and starts it again on the same data folder, with further settings for this life. */
  restart(life?: Life): Promise<void>
  /** Stops it and removes its files. */
  stop(): Promise<void>
}

/** Starts one; `await using` stops it. Rejects with what it wrote when it does not get ready. */
export async function startErgon(options: ErgonOptions = {}): Promise<Ergon> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'ergon-test-'))
  try {
    await seed(dataFolder, options.models ?? 'none')
    await seedState(dataFolder)
    return await begin(dataFolder, options)
  } catch (error) {
    rmSync(dataFolder, { recursive: true, force: true })
    throw error
  }
}

async function begin(dataFolder: string, given: ErgonOptions): Promise<Ergon> {
  const external = IS_EXTERNAL || given.external ? await startExternalState() : undefined
  const options = external ? { ...given, env: { DATABASE_URL: external.url, ...given.env } } : given
  let port = 0
  let life = given.life ?? {}
  const begun = () => launch(dataFolder, port, { ...options, env: { ...options.env, ...life } })
  let running = await attempt(async () => {
    port = await freeBlock()
    return await begun()
  })
  const { ready } = running
  const { runFolder, password } = secretsOf(dataFolder)
  const pool = external
    ? connect({ host: external.server.socketFolder, password: external.server.superuser.password })
    : connect({ host: join(runFolder, 'state/postgres'), password })
  const commands = createCliProcess()
  let stopped = false

  const sql: Ergon['sql'] = async (text, values = []) => (await pool.query(text, [...values])).rows
  const ergon: Ergon = {
    baseUrl: ready.base_url,
    port,
    account: ready.account_id,
    token: ready.token ?? '',
    get ready() {
      return running.ready
    },
    dataFolder,
    runFolder,
    get pid() {
      return running.child.pid ?? 0
    },
    get isRunning() {
      return isRunning(running.child)
    },
    get life() {
      return life
    },
    stderr: () => running.stderr(),
    sql: sql as Ergon['sql'],
    control: (name, asked) => control(join(runFolder, 'control.sock'), name, asked),
    cli: (...words) => runCommand(ergon, words),
    commands,
    pidOf: (cell) => pidOf(ergon, cell),
    killCell: (cell) => killCell(ergon, cell),
    answers: () => answers(ready.base_url),
    modelState: (id) => modelState(ergon, id),
    waitForModel: (id) => waitForModel(ergon, id),
    async kill() {
      const gone = once(running.child, 'exit')
      running.child.kill('SIGKILL')
      await gone
    },
    async resume(next = {}) {
      life = next
      running = await begun()
    },
    async restart(next) {
      await end(running.child)
      await ergon.resume(next)
    },
    async stop() {
      if (stopped) return
      stopped = true
      commands.close()
      await pool.end()
      await end(running.child)
      await external?.[Symbol.asyncDispose]()
      for (const folder of [dataFolder, runFolder]) rmSync(folder, { recursive: true, force: true })
    },
    [Symbol.asyncDispose]: () => ergon.stop(),
  }
  return ergon
}

type Running = { readonly child: ChildProcess; readonly ready: ReadyLine; stderr(): string }

/** Between looking and listening another test may take a port: then the start is tried elsewhere. */
async function attempt(start: () => Promise<Running>): Promise<Running> {
  for (let left = ATTEMPTS; ; left--) {
    try {
      return await start()
    } catch (error) {
      const taken = error instanceof Error && /port \d+ is taken|EADDRINUSE/.test(error.message)
      if (!taken || left <= 1) throw error
    }
  }
}

async function launch(dataFolder: string, port: number, options: ErgonOptions): Promise<Running> {
  const flags = ['--data', dataFolder, ...portFlags(port)]
  const child = spawn(
    process.execPath,
    [join(ROOT, 'src/main.ts'), ...flags, '--json', ...(options.flags ?? [])],
    {
      // The end of fd 3 tells the product that this test is gone, however it went.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        ...compileCache(),
        ERGON_MODELS: options.models ?? 'none',
        ERGON_PARENT_FD: '3',
        // Dozens of instances on one disk: it is for the tests of it.
        ERGON_BALLAST_MIB: '0',
        // The operator's account is that of most tests: nothing else is billed to it.
        ERGON_PROBE_SECONDS: '0',
        // Tests of pages build the console by themselves.
        ERGON_PORTAL_BUILD: 'off',
        ...options.env,
      },
    },
  )
  child.stdio[3]?.on('error', () => undefined)
  let errors = ''
  child.stderr?.on('data', (bytes: Buffer) => {
    errors = (errors + bytes.toString()).slice(-100_000)
  })
  child.once('exit', (code, signal) => {
    if (child.killed) return
    const last = errors.trim().split('\n').slice(-LINES_SHOWN).join('\n')
    process.stderr.write(`${PRODUCT_ENDED} (${code ?? signal}):\n${last}\n`)
  })
  const late = setTimeout(() => child.kill('SIGTERM'), START_MAX_MS)
  try {
    if (child.stdout === null) throw new TypeError('the child has no stdout')
    for await (const line of createInterface({ input: child.stdout })) {
      const ready = JSON.parse(line) as ReadyLine
      if (ready.ready) {
        child.stdout.resume()
        return { child, ready, stderr: () => errors }
      }
    }
    throw new Error(`Ergon did not get ready:\n${errors}`)
  } catch (error) {
    await end(child)
    throw error
  } finally {
    clearTimeout(late)
  }
}

const isRunning = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null

async function end(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS)
  await gone
  clearTimeout(late)
}

function secretsOf(dataFolder: string): { runFolder: string; password: string } {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(dataFolder, name), 'utf8'))
  return {
    runFolder: (read('ergon.json') as { runFolder: string }).runFolder,
    password: (read('secrets.json') as { postgres: string }).postgres,
  }
}

function connect({ host, password }: { host: string; password: string }): pg.Pool {
  const pool = new pg.Pool({ host, user: 'postgres', password, database: 'postgres', max: 3 })
  // A restart ends the connections; the next statement makes new ones.
  pool.on('error', () => undefined)
  return pool
}

async function control<Name extends ControlName>(
  socketPath: string,
  name: Name,
  asked: object = {},
): Promise<ControlAnswer<Name>> {
  const call = request({ socketPath, method: 'POST', path: `/${name}` })
  call.end(JSON.stringify(asked))
  const [response] = await once(call, 'response')
  const text = await textOf(response)
  if (response.headers['content-type']?.startsWith('text/plain')) return text as never
  // Long work answers with lines of progress; the last line is the result.
  const last = text.trim().split('\n').at(-1) ?? '{}'
  const answer = JSON.parse(last) as { result: unknown } | { error: { message: string } }
  if ('error' in answer) throw new Error(answer.error.message)
  return CONTROL[name].answer.parse(answer.result) as ControlAnswer<Name>
}

const runCommand = (ergon: Ergon, words: readonly string[]): Promise<Outcome> =>
  ergon.commands.run({
    words,
    env: {
      PATH: process.env['PATH'] ?? '',
      ERGON_DATA: ergon.dataFolder,
      ERGON_BASE_URL: ergon.baseUrl,
      ERGON_TOKEN: ergon.token,
      XDG_CONFIG_HOME: join(ergon.dataFolder, 'cli-config'),
    },
  })

async function pidsOf(ergon: Ergon, name: string) {
  const { cells } = await ergon.control('node.status')
  return cells.find((cell) => cell.name === name)
}

async function pidOf(ergon: Ergon, name: string): Promise<number> {
  const pid = (await pidsOf(ergon, name))?.pid
  if (pid == null) throw new Error(`no cell ${name} is running`)
  return pid
}

async function killCell(ergon: Ergon, name: string): Promise<void> {
  const life = await pidsOf(ergon, name)
  if (life?.pid == null) throw new Error(`no cell ${name} is running`)
  process.kill(life.pid, 'SIGKILL')
  const deadline = performance.now() + STOP_MAX_MS
  // The agent forgets the process once all below it has ended.
  while ((await pidsOf(ergon, name))?.launcher_pid === life.launcher_pid) {
    if (performance.now() > deadline) throw new Error(`the cell ${name} does not end`)
    await pause(5)
  }
}

async function answers(baseUrl: string): Promise<void> {
  const deadline = performance.now() + START_MAX_MS
  for (;;) {
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer?.status === 200) return
    if (performance.now() > deadline) throw new Error('the gateway does not come back')
    await pause(50)
  }
}

async function modelState({ baseUrl, token }: Ergon, id: string): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${baseUrl}/v1/models/${id}`, { headers })
  return ((await answer.json()) as { state?: string }).state
}

async function waitForModel(ergon: Ergon, id: string): Promise<void> {
  const deadline = performance.now() + MODEL_MAX_MS
  for (;;) {
    // The gateway's word counts: it hears of a change a moment after the table has it.
    const state = await ergon.modelState(id)
    if (state === 'ready') return
    if (state === 'failed') {
      const [model] = await ergon.sql('select reason from models where id = $1', [id])
      throw new Error(`the model ${id} failed: ${model?.['reason']}`)
    }
    if (performance.now() > deadline) throw new Error(`the model ${id} did not get ready`)
    await pause(50)
  }
}
