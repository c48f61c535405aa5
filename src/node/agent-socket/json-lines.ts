// Lines of JSON on a stream, as programs and the agent send them to each other.
import type { Readable } from 'node:stream'

export const LINE_CHARACTERS_MAX = 65_536

/** Calls back with each line's value. A line that is too long or no JSON, and one that `take` refuses, end the stream. */
export function onLines(stream: Readable, take: (value: unknown) => void): void {
  let text = ''
  const takeAll = (chunk: string) => {
    const lines = `${text}${chunk}`.split('\n')
    text = lines.pop() ?? ''
    if (Math.max(text.length, ...lines.map(({ length }) => length)) > LINE_CHARACTERS_MAX)
      throw new RangeError('a line is too long')
    for (const line of lines) {
      // A line before has ended the stream.
      if (stream.destroyed) return
      take(JSON.parse(line))
    }
  }
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    try {
      takeAll(chunk)
    } catch (error) {
      stream.destroy(error as Error)
    }
  })
}

/** A value as a line. */
export const lineOf = (value: object): string => `${JSON.stringify(value)}\n`
