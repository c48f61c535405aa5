// The CPU of reads that bring no request, such as a head that comes byte by byte, and frames of HTTP/2 that ask for nothing. Nobody
// marks after them by itself, so the requests beside them would pay.
import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { CausedByCells } from '#node/meter/caused-by-cells.ts'

type Nobody = Pick<CausedByCells['nobody'], 'mark'>
/** Node calls it for each read of a connection whose bytes go to the parser alone, and for each write. */
type TimedSocket = Socket & { _unrefTimer(): void; readonly _httpMessage?: unknown }

/** A reading of the clock takes as long as two pings. */
const PINGS_OF_MARK = 16

/** The answer that a socket is given to is this member of it, by node:http. */
export const owesAnswer = (socket: Socket): boolean =>
  Boolean((socket as Partial<TimedSocket>)._httpMessage)

/** Marks each read of a connection of HTTP/1.1 while no request of it runs. */
export function markEmptyReads(socket: Socket, nobody: Nobody): void {
  const timed = socket as TimedSocket
  const refresh = timed._unrefTimer
  let bytes = 0
  timed._unrefTimer = function () {
    refresh.call(this)
    const { bytesRead } = this
    if (bytesRead === bytes) return
    bytes = bytesRead
    if (!owesAnswer(this)) nobody.mark()
  }
}

/** Marks pings, which are answered by Node. */
export function markPings(session: ServerHttp2Session, nobody: Nobody): void {
  let pings = 0
  session.on('ping', () => {
    if (++pings % PINGS_OF_MARK === 0) nobody.mark()
  })
}
