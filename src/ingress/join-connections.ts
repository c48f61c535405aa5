// An upgraded request: from here on its connection and that of the instance are one.
import type { Duplex } from 'node:stream'
import { joinStreams } from '#base/join-streams.ts'
import type { UpgradeSocket } from './exchange.ts'
import type { InstanceWork } from './instance-pool.ts'
import type { RequestEnding } from './request-ending.ts'

/** Clients of WebSocket ping more often. */
const SILENCE_MS = 600_000

export type JoinOptions = {
  /** The head of the answer to the client. */
  readonly head: Readonly<Record<string, string | string[]>>
  /** CPU that is counted for the instance. */
  readonly work: InstanceWork
  /** Ends both. */
  readonly ending: Pick<RequestEnding, 'listen'>
}

/** Tells the client that its protocol begins. Resolves when both connections have ended. */
export async function joinConnections(
  { socket: client, head: early }: UpgradeSocket,
  instance: Duplex,
  { head, work, ending }: JoinOptions,
): Promise<void> {
  ending.listen(() => {
    client.destroy()
    instance.destroy()
  })
  client.write(headText(head))
  if (early.length > 0) instance.write(early)
  const joined = joinStreams(client, instance, SILENCE_MS)
  // Its other direction is counted where the connection to the instance is read.
  work.count(client)
  await joined
}

function headText(head: JoinOptions['head']): string {
  const lines = Object.entries(head).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  )
  return `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${lines.join('')}\r\n`
}
