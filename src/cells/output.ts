// Reads stdout and stderr of a cell as lines of a limited length and rate. Everything is read, so that a cell
// never waits for us, and nothing is kept: lines beyond the rate are dropped and counted.
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

import type { Clock } from '#base/clock.ts'

import type { OutputLine } from './cell.ts'

const LINE_LENGTH_MAX = 8192
const LINES_PER_S_MAX = 2000

/** Reads a stream to its end and hands on its lines. */
export function readLines(
  from: { readonly name: OutputLine['stream']; readonly stream: Readable },
  sink: (line: OutputLine) => void,
  clock: Clock,
): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let second = 0
  let lines = 0
  let dropped = 0

  const put = (text: string) => {
    const now = Math.floor(clock.monotonicMs() / 1000)
    if (now !== second) {
      if (dropped > 0)
        sink({ stream: from.name, text: `${dropped} lines were dropped: more than 2000 a second` })
      second = now
      lines = 0
      dropped = 0
    }
    if (++lines > LINES_PER_S_MAX) dropped += 1
    else sink({ stream: from.name, text })
  }
  from.stream.on('data', (chunk: Buffer) => {
    const parts = (rest + decoder.write(chunk)).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) for (const piece of pieces(part)) put(piece)
    while (rest.length > LINE_LENGTH_MAX) {
      put(rest.slice(0, LINE_LENGTH_MAX))
      rest = rest.slice(LINE_LENGTH_MAX)
    }
  })
  from.stream.on('end', () => {
    rest += decoder.end()
    if (rest !== '') put(rest)
  })
  // A reset of the pipe is an end like any other; the life's exit tells what happened.
  from.stream.on('error', () => from.stream.destroy())
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
