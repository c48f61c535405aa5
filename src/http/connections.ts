// The exchanges of each connection, one after another: RFC 9112 §9.3.2 allows requests at once only where all have safe
// methods, and thirty connections that sent sixty GETs each and read nothing took 1.7 GB. So an error of the parser is
// answered in the right place too. A request whose body cannot be read has the error as its own answer. A request that
// is being answered ends first: a refusal written in between would be taken for its answer.
import type { Socket } from 'node:net'
import type { ErgonError } from '#base/errors.ts'
import type { Exchange } from './exchange.ts'
import { PIPELINED_MAX } from './limits.ts'

type OpenExchange = { readonly exchange: Exchange; readonly answered: Promise<void> }
type Connection = { readonly open: OpenExchange[]; refused: boolean }

export interface Connections {
  /** The connection has reached its limit of requests sent ahead. */
  isFull(socket: Socket): boolean
  /** Answers an exchange when the ones before have left; not at all when their connection has ended by then. */
  add(exchange: Exchange, answer: () => Promise<void>): void
  /** The newest exchange of it, whose bytes come. */
  last(socket: Socket): Exchange | undefined
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
    last: (socket) => connections.get(socket)?.open.at(-1)?.exchange,
    add(exchange, answer) {
      const { open } = of(exchange.request.socket)
      const before = open.at(-1)
      const answered =
        before === undefined ? answer() : before.answered.then(() => answerNext(exchange, answer))
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

/** A request that was sent ahead begins. */
function answerNext(exchange: Exchange, answer: () => Promise<void>): Promise<void> | undefined {
  const { socket } = exchange.request
  if (!socket.destroyed) return answer()
  exchange.close()
  return undefined
}
