// The exchanges under way on each connection, so that an error of the parser is answered in the right place. A
// request whose body cannot be read has the error as its own answer. A request that is being answered ends first: a
// refusal written in between would be taken for its answer (RFC 9112 §9.3.2).
import type { Socket } from 'node:net'
import type { ErgonError } from '#base/errors.ts'
import type { Exchange } from './exchange.ts'
import { PIPELINED_MAX } from './limits.ts'

type OpenExchange = { readonly exchange: Exchange; readonly answered: Promise<void> }
type Connection = { readonly open: OpenExchange[]; refused: boolean }

export interface Connections {
  /** The connection has reached its limit of exchanges under way. */
  isFull(socket: Socket): boolean
  /** Remembers an exchange until it is answered. */
  add(exchange: Exchange, answered: Promise<void>): void
  /** The parser cannot go on with this connection. */
  failed(socket: Socket, refusal: ErgonError): void
  /** Resolves when everything under way is answered. */
  idle(): Promise<void>
}

/** `refuse` answers on the bare socket and closes it. */
export function createConnections(
  refuse: (socket: Socket, refusal: ErgonError) => void,
): Connections {
  const connections = new WeakMap<Socket, Connection>()
  let running = 0
  const waiting: (() => void)[] = []

  const of = (socket: Socket): Connection => {
    const known = connections.get(socket) ?? { open: [], refused: false }
    connections.set(socket, known)
    return known
  }

  return {
    isFull: (socket) => (connections.get(socket)?.open.length ?? 0) >= PIPELINED_MAX,
    add(exchange, answered) {
      const { open } = of(exchange.request.socket)
      const one = { exchange, answered }
      open.push(one)
      running++
      // An answer never rejects.
      void answered.then(() => {
        open.splice(open.indexOf(one), 1)
        if (--running === 0) for (const resolve of waiting.splice(0)) resolve()
      })
    },
    failed(socket, refusal) {
      const connection = of(socket)
      if (connection.refused) return
      connection.refused = true
      const { open } = connection
      const unread = open.find(({ exchange }) => !exchange.request.complete)
      if (unread === undefined)
        void Promise.allSettled(open.map(({ answered }) => answered)).then(() =>
          refuse(socket, refusal),
        )
      else unread.exchange.end(refusal)
    },
    idle: () =>
      new Promise((resolve) => {
        if (running === 0) resolve()
        else waiting.push(resolve)
      }),
  }
}
