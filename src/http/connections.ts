// The exchanges of each connection, one after another (request-lines.ts), so an error of the parser is answered in the right
// place too. A request whose body cannot be read has the error as its own answer. A request that is being answered ends
// first: a refusal written in between would be taken for its answer.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ErgonError } from '#base/errors.ts'
import type { Exchange } from './exchange.ts'
import { createRequestLines } from './request-lines.ts'

/** The newest request of a connection, until its reply has left. */
type Newest = {
  readonly request: IncomingMessage
  /** Undefined while the request waits for its turn. */
  exchange: Exchange | undefined
  /** The rest of its body cannot be read. */
  refusal: ErgonError | undefined
}

export interface Connections {
  /**
   * Makes the exchange and answers it when the replies before have left; not at all when the connection has ended by then.
   */
  add(request: IncomingMessage, make: () => Exchange): void
  /** The exchange whose bytes come. */
  newest(socket: Socket): Exchange | undefined
  /** The parser cannot go on with this connection. */
  failed(socket: Socket, refusal: ErgonError): void
  /** Resolves when everything under way is answered. */
  idle(): Promise<void>
}

/** `refuse` answers on the bare socket and closes it; `answer` never rejects. */
export function createConnections({
  waitingBytesMax,
  answer,
  refuse,
}: {
  readonly waitingBytesMax?: number | undefined
  answer(exchange: Exchange): Promise<void>
  refuse(socket: Socket, refusal: ErgonError): void
}): Connections {
  const lines = createRequestLines(waitingBytesMax)
  const connections = new WeakMap<Socket, Newest>()
  const refused = new WeakSet<Socket>()

  const begin = async (one: Newest, make: () => Exchange): Promise<void> => {
    one.exchange = make()
    if (one.refusal !== undefined) one.exchange.end(one.refusal)
    await answer(one.exchange)
    // A kept connection keeps no answered request.
    const { socket } = one.request
    if (connections.get(socket) === one) connections.delete(socket)
  }

  return {
    add(request, make) {
      const one: Newest = { request, exchange: undefined, refusal: undefined }
      connections.set(request.socket, one)
      lines.add(request, () => begin(one, make))
    },
    newest: (socket) => connections.get(socket)?.exchange,
    failed(socket, refusal) {
      if (refused.has(socket)) return
      refused.add(socket)
      const newest = connections.get(socket)
      if (newest === undefined || newest.request.complete)
        return lines.behind(socket, () => refuse(socket, refusal))
      newest.refusal = refusal
      newest.exchange?.end(refusal)
    },
    idle: () => lines.idle(),
  }
}
