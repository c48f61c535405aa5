// Reads stdout and stderr of a cell as lines of a limited length and rate; lines beyond the rate are dropped and
// counted. The bytes a second that are read of a cell of an account are limited. The cell waits with further ones, so
// that its output costs the agent little. A cell of ours never waits.
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

import type { Clock } from '#base/clock.ts'

import type { OutputLine } from './cell.ts'

/** Bytes that are read of a stream at once, and of each second; a read counts as 4 KiB at least. */
export type ReadPace = { readonly burstBytes: number; readonly bytesPerS: number }

/** Fifteen times what a log keeps of a second, and four thousandths of a processor of the agent. */
export const ACCOUNT_PACE: ReadPace = { burstBytes: 16 * 2 ** 20, bytesPerS: 2 * 2 ** 20 }

/**
 * A read costs as much CPU as thousands of bytes: output in single bytes took 11 to 14 % of a processor of the agent, and
 * now 1. Where the bytes are used up a stream rests, and its next read brings all that came meanwhile.
 */
const READ_BYTES = 4096
const LINE_LENGTH_MAX = 8192
const LINES_PER_S_MAX = 2000
/** Least rest of a stream that was read too fast. */
const REST_MIN_MS = 100
const NEWLINE = 10

/** Reads a stream to its end and hands on its lines; resolves behind the last one. */
export function readLines(
  from: {
    readonly name: OutputLine['stream']
    readonly stream: Readable
    readonly pace?: ReadPace
  },
  sink: (line: OutputLine) => void,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<void> {
  const { name, stream, pace } = from
  const rate = createRate((text) => sink({ stream: name, text }), clock)
  const decoder = new StringDecoder('utf8')
  let rest = ''
  /** The rest of a line that was dropped comes first. */
  let isInside = false
  const put = (text: string) => {
    for (const piece of pieces(text)) rate.put(piece)
  }
  const drop = (chunk: Buffer) => {
    const wasInside = isInside
    isInside = chunk.at(-1) !== NEWLINE
    // A line is counted once, where it begins or with its end.
    rate.drop(newlinesIn(chunk) + Number(isInside) - Number(wasInside))
    rest = ''
    decoder.end()
  }
  const read = (chunk: Buffer) => {
    const begin = isInside ? chunk.indexOf(NEWLINE) + 1 : 0
    if (isInside && begin === 0) return
    isInside = false
    const parts = (rest + decoder.write(chunk.subarray(begin))).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) put(part)
    while (rest.length > LINE_LENGTH_MAX) {
      rate.put(rest.slice(0, LINE_LENGTH_MAX))
      rest = rest.slice(LINE_LENGTH_MAX)
    }
  }
  if (pace !== undefined) keepPace(stream, pace, clock)
  stream.on('data', (chunk: Buffer) => (rate.isFull() ? drop(chunk) : read(chunk)))
  stream.on('end', () => {
    rest += decoder.end()
    if (rest !== '') put(rest)
    rate.end()
  })
  // A reset of the pipe is an end like any other; the life's exit has the cause.
  stream.on('error', () => stream.destroy())
  return new Promise((resolve) => stream.once('close', resolve))
}

/** Passes on a limited number of lines a second, and the number of the others. */
function createRate(sink: (text: string) => void, clock: Pick<Clock, 'monotonicMs'>) {
  let second = 0
  let lines = 0
  let dropped = 0
  const end = () => {
    if (dropped > 0) sink(`${dropped} lines were dropped: more than ${LINES_PER_S_MAX} a second`)
    dropped = 0
  }
  const turn = () => {
    const now = Math.floor(clock.monotonicMs() / 1000)
    if (now === second) return
    end()
    second = now
    lines = 0
  }
  return {
    put(text: string): void {
      turn()
      if (++lines > LINES_PER_S_MAX) dropped++
      else sink(text)
    },
    isFull(): boolean {
      turn()
      return lines >= LINES_PER_S_MAX
    },
    drop(count: number): void {
      dropped += count
    },
    end,
  }
}

/** Lets a stream rest once its bytes are used up: its writer waits then. */
function keepPace(stream: Readable, pace: ReadPace, clock: Pick<Clock, 'monotonicMs'>): void {
  const { burstBytes, bytesPerS } = pace
  let left = burstBytes
  let readMs = clock.monotonicMs()
  let timer: NodeJS.Timeout | undefined
  stream.on('data', (chunk: Buffer) => {
    const nowMs = clock.monotonicMs()
    left = Math.min(burstBytes, left + ((nowMs - readMs) * bytesPerS) / 1000)
    left -= Math.max(chunk.length, READ_BYTES)
    readMs = nowMs
    if (left >= 0) return
    stream.pause()
    timer = setTimeout(() => stream.resume(), Math.max(REST_MIN_MS, (-left * 1000) / bytesPerS))
  })
  stream.on('close', () => clearTimeout(timer))
}

/** A call of indexOf() for each newline takes thirty times as long where lines are short. */
function newlinesIn(chunk: Buffer): number {
  let count = 0
  for (let at = 0; at < chunk.length; at++) if (chunk[at] === NEWLINE) count++
  return count
}

function* pieces(line: string): Generator<string> {
  if (line === '') yield line
  for (let start = 0; start < line.length; start += LINE_LENGTH_MAX)
    yield line.slice(start, start + LINE_LENGTH_MAX)
}

const ERROR_LENGTH_MAX = 300

/** The error in a log line of our own programs; undefined for any other line. */
export function errorIn(text: string): string | undefined {
  // Most lines are not; parsing each would cost more than reading it.
  if (!text.includes('"level":"error"') || !isLogLine(text)) return undefined
  const { error, message } = JSON.parse(text) as { error?: unknown; message: unknown }
  const named = typeof error === 'object' && error !== null && 'message' in error
  return String(named ? error.message : (error ?? message)).slice(0, ERROR_LENGTH_MAX)
}

/** True for a log line of our own programs, which is passed on as it is. */
export function isLogLine(text: string): boolean {
  if (!text.startsWith('{')) return false
  try {
    const line: unknown = JSON.parse(text)
    return typeof line === 'object' && line !== null && 'message' in line && 'level' in line
  } catch {
    return false
  }
}
