// Two connections as one: what one side sends the other gets, until both directions have ended or nothing was sent for long.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'

/** Resolves when both have ended; one that is cut off ends the other. Never rejects. */
export async function joinStreams(one: Duplex, other: Duplex, silenceMs: number): Promise<void> {
  const end = () => {
    one.destroy()
    other.destroy()
  }
  for (const stream of [one, other]) {
    stream.on('error', end)
    stream.once('close', () => stream.readableEnded || end())
    const { setTimeout } = stream as Partial<Socket>
    setTimeout?.call(stream, silenceMs, end)
  }
  if (one.destroyed || other.destroyed) return end()
  one.pipe(other).pipe(one)
  await Promise.allSettled([finished(one), finished(other)])
}
