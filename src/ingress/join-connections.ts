// Two connections as one: what one side sends the other gets, for as long as both stay open.
import { finished } from 'node:stream/promises'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import type { UpgradeSocket } from './exchange.ts'

/** Clients of WebSocket ping more often. */
const SILENCE_MS = 600_000

export type JoinOptions = {
  /** Of the answer to the client. */
  readonly head: Readonly<Record<string, string | string[]>>
  /** Ends both. */
  readonly signal: AbortSignal
}

/** Tells the client that its protocol begins. Resolves when both connections have ended. */
export async function joinConnections(
  { socket: client, head: early }: UpgradeSocket,
  instance: Duplex,
  { head, signal }: JoinOptions,
): Promise<void> {
  const end = () => {
    client.destroy()
    instance.destroy()
  }
  signal.addEventListener('abort', end, { once: true })
  for (const one of [client, instance]) {
    one.on('error', end)
    one.once('close', end)
    const { setTimeout } = one as Partial<Socket>
    setTimeout?.call(one, SILENCE_MS, end)
  }
  client.write(headText(head))
  if (early.length > 0) instance.write(early)
  client.pipe(instance).pipe(client)
  await Promise.allSettled([finished(client), finished(instance)])
}

function headText(head: JoinOptions['head']): string {
  const lines = Object.entries(head).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  )
  return `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${lines.join('')}\r\n`
}
