// Lines of JSON on a stream, as proxies and the agent send them to each other.
import type { Readable } from 'node:stream'

const LINE_CHARACTERS_MAX = 65_536

/** Calls back with each line's value. A line that is too long destroys the stream. */
export function onLines(stream: Readable, take: (value: unknown) => void): void {
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    text += chunk
    if (text.length > LINE_CHARACTERS_MAX) return void stream.destroy()
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) take(JSON.parse(line))
  })
}
