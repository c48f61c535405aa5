// The cells of ours as data: the arguments of each program, and its permitted callers.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createLogger, type LogLevel } from '#base/log.ts'
import { tailing, type LogTail } from '#base/log-tail.ts'
import { callUnix, keepConnections, type UnixCall } from '#base/unix-client.ts'
import type { Backoff, CellSpec, OutputLine, Watch } from '#cells/cell.ts'
import { isLogLine } from '#cells/output.ts'
import { fault } from '#contract/errors.ts'
import { bundleOf, bundlesIn, COMPILED_FOLDER } from './bundles.ts'
import type { Program } from './program-flags.ts'

export const APP_FOLDER = resolve(import.meta.dirname, '../..')

const RESTART: Backoff = { delaysMs: [100, 500, 2000, 5000, 15_000, 30_000], steadyMs: 60_000 }
// A program that is ended for being slow is slower still the next time: with 20 s a gateway never came up
// where 13 processes shared a core.
const READY_TIMEOUT_MS = 60_000
/** The longest start of a cell, over all its lives. */
export const START_TIMEOUT_MS = 90_000

const SOCKET = 'http.sock'
/** The longest silence of a cell after a request. */
const SILENT_MS_MAX = 5000
const TENANT_BYTES_MAX = 16_384
/** The longest text that a cell says of itself, which goes into alarms. */
const WORDS_MAX = 200

/** The folders and identity that all programs of a node share. */
export type ProgramPlace = {
  readonly runFolder: string
  readonly dataFolder: string
  readonly logLevel: LogLevel
  readonly logTail: LogTail
}

type ProgramSpec = Partial<Omit<CellSpec, 'argv' | 'socket' | 'config'>> &
  Pick<CellSpec, 'name' | 'socketGroup'> & {
    readonly config: object
    readonly place: ProgramPlace
  }

/**
 * A program of ours as a cell; fields given override the defaults. Its config gets the
 * fields `socket`, the path to listen on in the folder that the launcher makes, and `logLevel`.
 */
export function programCell(program: Program, spec: ProgramSpec): CellSpec {
  const { place, config, ...given } = spec
  const compiled = join(place.dataFolder, COMPILED_FOLDER)
  return {
    argv: [
      program.interpreter ?? process.execPath,
      ...program.flags,
      bundleOrSource(program, compiled),
    ],
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
    output: relay(place, spec.name),
    ...given,
  }
}

/** The bundle of a program, or its file where there is none. */
export function bundleOrSource(program: Program, compiled: string): string {
  const bundle = join(bundlesIn(compiled), bundleOf(program.file))
  return existsSync(bundle) ? bundle : pathOf(program)
}

/** Where the file of a program is. */
export const pathOf = ({ file }: Pick<Program, 'file'>): string => join(APP_FOLDER, 'src', file)

/** The path that a cell of a group listens on. */
export const socketOf = ({ runFolder }: ProgramPlace, group: string, name: string): string =>
  join(runFolder, group, name, SOCKET)

/** Our programs write log lines; anything else on their stderr is a crash, and is never kept quiet. */
function relay({ logLevel, logTail }: ProgramPlace, cell: string): (line: OutputLine) => void {
  const write = tailing(logTail)
  const log = createLogger('agent', { level: logLevel, write })
  return ({ stream, text }) => {
    if (isLogLine(text)) write(`${text}\n`)
    else if (stream === 'stderr' && text.trim() !== '')
      log.error('Output of a cell', { cell, text })
  }
}

/** A readiness probe: the page answers 200. */
export const answers =
  (page: string, asked = ask): CellSpec['ready']['probe'] =>
  async (socket, signal) =>
    void (await asked(socket, page, signal))

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

/** Of a cell that may answer as it likes, as the code of tenants does. */
export const askTenant: Ask = (socketPath, path, signal) =>
  askOn({ bytesMax: TENANT_BYTES_MAX }, socketPath, path, signal)

/** On a connection of its own. */
export const ask: Ask = (...page) => askOn({}, ...page)

/** For callers that ask again and again: connections are kept. */
export function openAsk(): { readonly ask: Ask; close(): void } {
  const connections = keepConnections()
  return { ask: (...page) => askOn({ connections }, ...page), close: connections.close }
}

async function askOn(
  more: Pick<UnixCall, 'connections' | 'bytesMax'>,
  ...[socketPath, path, signal]: Parameters<Ask>
): Promise<unknown> {
  const { status, text } = await callUnix({
    socketPath,
    path,
    signal,
    silence: { ms: SILENT_MS_MAX, fault: () => fault('cell_silent', `${path} timed out`) },
    ...more,
  })
  if (status === 200) return parse(text)
  throw fault('cell_not_ready', `${path} answered ${status}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
