// The output of a container as engines send it: frames of one stream each. Source: Docker Engine API, "Attach to a container".
import { once } from 'node:events'
import type { Writable } from 'node:stream'

const HEADER_BYTES = 8
const LENGTH_AT = 4
const STDERR = 2
const NOTHING = Buffer.alloc(0)

/** Writes the output to two streams, no faster than they are read. Resolves at its end; rejects where it breaks off. */
export async function readFrames(
  from: AsyncIterable<Buffer>,
  to: { readonly stdout: Writable; readonly stderr: Writable },
): Promise<void> {
  let header = NOTHING
  let sink = to.stdout
  let left = 0
  for await (const chunk of from) {
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const part = chunk.subarray(at, at + left)
        at += part.length
        left -= part.length
        if (!sink.write(part)) await once(sink, 'drain')
        continue
      }
      const part = chunk.subarray(at, at + HEADER_BYTES - header.length)
      at += part.length
      header = Buffer.concat([header, part])
      if (header.length < HEADER_BYTES) continue
      sink = header[0] === STDERR ? to.stderr : to.stdout
      left = header.readUInt32BE(LENGTH_AT)
      header = NOTHING
    }
  }
}
