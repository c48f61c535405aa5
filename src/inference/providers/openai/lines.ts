// Lines of a byte stream, ended by LF, CR or CRLF, however the bytes are cut. Bounded: an upstream that
// never ends a line must not fill our memory.
import { fault } from '#contract/errors.ts'

export type LineReader = {
  /** The lines that these bytes complete. Throws `upstream_failed` when one is over the bound. */
  push(bytes: Uint8Array): string[]
}

const CR = 13
const LF = 10

export function createLineReader({ lineBytesMax }: { readonly lineBytesMax: number }): LineReader {
  let partial: Buffer[] = []
  let partialBytes = 0
  let afterCr = false

  const keep = (bytes: Buffer) => {
    partialBytes += bytes.length
    if (partialBytes > lineBytesMax) throw tooLong(lineBytesMax)
    partial.push(bytes)
  }

  /** Line ends never occur inside a UTF-8 sequence, so whole lines decode without a carry. */
  const finish = (ended: Buffer): string => {
    const whole = partial.length === 0 ? ended : Buffer.concat([...partial, ended])
    partial = []
    partialBytes = 0
    return whole.toString('utf8')
  }

  return {
    push(bytes) {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      if (chunk.length === 0) return []
      // The second half of a CRLF that was cut in two.
      const start = afterCr && chunk[0] === LF ? 1 : 0
      afterCr = chunk.at(-1) === CR
      const end = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1
      // All lines in one go: decoding each by itself took twice the CPU.
      const lines = end > start ? linesOf(finish(chunk.subarray(start, end)), lineBytesMax) : []
      const rest = Math.max(start, end)
      // Copied: the rest would keep the whole chunk alive, and its owner may use it again.
      if (rest < chunk.length) keep(Buffer.from(chunk.subarray(rest)))
      return lines
    },
  }
}

/** The lines of a text that ends with a line end. */
function linesOf(text: string, lineBytesMax: number): string[] {
  const lines = text.includes('\r') ? text.split(/\r\n|\r|\n/) : text.split('\n')
  lines.pop()
  // No line of a text has more bytes than three per character of the whole.
  if (text.length * 3 > lineBytesMax)
    for (const line of lines)
      if (Buffer.byteLength(line) > lineBytesMax) throw tooLong(lineBytesMax)
  return lines
}

const tooLong = (bytesMax: number) =>
  fault('upstream_failed', `Could not read the upstream: a line of over ${bytesMax} bytes`)
