// Two sockets as one, until both directions have ended or nothing was sent for long.
import { finished } from 'node:stream/promises'
import type { Socket } from 'node:net'

/** Pools of databases keep connections for minutes. */
export const SILENCE_MS = 900_000

/** Resolves when both have ended. Never rejects. */
export async function join(one: Socket, other: Socket): Promise<void> {
  const end = () => {
    one.destroy()
    other.destroy()
  }
  for (const socket of [one, other]) {
    socket.on('error', end)
    socket.once('close', (hadError) => hadError && end())
    socket.setTimeout(SILENCE_MS, end)
  }
  if (one.destroyed || other.destroyed) return end()
  one.pipe(other).pipe(one)
  await Promise.allSettled([finished(one), finished(other)])
}
