// The cells of ours as data: what each program is started with and who may call it.
import type * as Http from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLogger, type Level, type Logger } from '#base/log.ts'
import { Agent, request } from '#base/node-http.ts'
import type { Backoff, CellSpec, OutputLine, Watch } from '#cells/cell.ts'
import { isLogLine } from '#cells/output.ts'
import { fault } from '#contract/errors.ts'
import type { Program } from './program-flags.ts'

export const APP_FOLDER = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')

const RESTART: Backoff = { delaysMs: [100, 500, 2000, 5000, 15_000, 30_000], steadyMs: 60_000 }
// A program that is ended for being slow is slower still the next time: with 20 s a gateway never came up
// where 13 processes shared a core.
const READY_TIMEOUT_MS = 60_000
/** How long a start waits for a cell, over all its lives. */
export const START_TIMEOUT_MS = 90_000

const SOCKET = 'http.sock'
/** Of what a cell says of itself, which goes into alarms. */
const WORDS_MAX = 200
/** In the data folder: what compilePrograms() makes. */
export const COMPILED_FOLDER = 'compiled'

/** What all programs of a node share. */
export type ProgramPlace = {
  readonly runFolder: string
  readonly dataFolder: string
  readonly logLevel: Level
}

type ProgramSpec = Partial<Omit<CellSpec, 'argv' | 'socket' | 'config'>> &
  Pick<CellSpec, 'name' | 'socketGroup'> & {
    readonly config: object
    readonly place: ProgramPlace
  }

/**
 * A program of ours as a cell; fields given override the defaults. Its config gets the
 * members `socket`, the path to listen on in the folder that the launcher makes, and `logLevel`.
 */
export function programCell(program: Program, spec: ProgramSpec): CellSpec {
  const { place, config, ...given } = spec
  const compiled = join(place.dataFolder, COMPILED_FOLDER)
  return {
    argv: [process.execPath, ...program.flags, pathOf(program)],
    // A uid without a passwd entry has no home, and some libraries ask for one while they load.
    environment: { NODE_ENV: 'production', HOME: '/', NODE_COMPILE_CACHE: compiled },
    config: {
      ...config,
      socket: socketOf(place, spec.socketGroup, spec.name),
      logLevel: place.logLevel,
    },
    reads: [],
    writes: [],
    compiled,
    calls: [],
    limits: {},
    ready: { probe: answers('/readyz'), timeoutMs: READY_TIMEOUT_MS },
    socket: SOCKET,
    stop: { signal: 'SIGTERM', graceMs: 20_000 },
    restart: RESTART,
    payer: { kind: 'operator' },
    output: relay(createLogger('agent', { level: place.logLevel }), spec.name),
    ...given,
  }
}

/** Where the file of a program is. */
export const pathOf = ({ file }: Pick<Program, 'file'>): string => join(APP_FOLDER, 'src', file)

/** The path that a cell of a group listens on. */
export const socketOf = ({ runFolder }: ProgramPlace, group: string, name: string): string =>
  join(runFolder, group, name, SOCKET)

/** Our programs write log lines; anything else on their stderr is a crash, and is never kept quiet. */
const relay =
  (log: Logger, cell: string) =>
  ({ stream, text }: OutputLine): void => {
    if (isLogLine(text)) process.stderr.write(`${text}\n`)
    else if (stream === 'stderr' && text.trim() !== '')
      log.error('Output of a cell', { cell, text })
  }

/** A readiness probe: the page answers 200. */
export const answers =
  (page: string): CellSpec['ready']['probe'] =>
  async (socket, signal) =>
    void (await ask(socket, page, signal))

/** A watch: the page answers `{ "stuck": null }`, or why the cell is to be ended. */
export const stuckAt =
  (page: string): Watch['look'] =>
  async (socket, signal) => {
    const answer = await ask(socket, page, signal)
    const words = typeof answer === 'object' && answer !== null && 'stuck' in answer && answer.stuck
    return typeof words === 'string' ? words.slice(0, WORDS_MAX) : undefined
  }

/** GETs a page of a cell's own socket as JSON; rejects on anything but 200. */
export type Ask = (socketPath: string, path: string, signal: AbortSignal) => Promise<unknown>

/** On a connection of its own. */
export const ask: Ask = (...page) => askOn(false, ...page)

/** For who asks again and again: connections are kept, each costs both ends as much as the page. */
export function openAsk(): { readonly ask: Ask; close(): void } {
  const agent = new Agent({ keepAlive: true })
  return { ask: (...page) => askOn(agent, ...page), close: () => agent.destroy() }
}

function askOn(agent: Http.Agent | false, ...[socketPath, path, signal]: Parameters<Ask>) {
  return new Promise<unknown>((resolve, reject) => {
    const asked = request({ socketPath, path, signal, timeout: 5000, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) return resolve(parse(text))
        reject(fault('cell_not_ready', `${path} answered ${response.statusCode}`))
      })
    })
    asked.on('timeout', () => asked.destroy(fault('cell_silent', `${path} timed out`)))
    asked.on('error', reject)
    asked.end()
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
