// The CPU of reads that bring no request, such as a head that comes byte by byte. Nobody marks after them by itself, so the
// requests beside them would pay.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Node calls it for each read of a connection whose bytes go to the parser alone, and for each write. */
type TimedSocket = Socket & { _unrefTimer(): void; readonly _httpMessage?: ServerResponse | null }

/** The answer that a socket is given to is this member of it, by node:http. */
export const owesAnswer = (socket: Socket): boolean =>
  Boolean((socket as Partial<TimedSocket>)._httpMessage)

type ReadMarks = {
  /** A read has brought no request, and none runs. */
  readonly empty: () => void
  /** A read has brought bytes behind a request that runs: of its body, or of the frame of that. */
  readonly ofRequest: (request: IncomingMessage, bytes: number) => void
}

/** Marks each read of a connection of HTTP/1.1. */
export function markReads(socket: Socket, { empty, ofRequest }: ReadMarks): void {
  const timed = socket as TimedSocket
  const refresh = timed._unrefTimer
  let bytes = 0
  let answer: ServerResponse | null | undefined
  timed._unrefTimer = function () {
    refresh.call(this)
    const { bytesRead } = this
    if (bytesRead === bytes) return
    const more = bytesRead - bytes
    bytes = bytesRead
    const before = answer
    answer = this._httpMessage
    if (!answer) empty()
    // The head of a request is marked by its answer.
    else if (answer === before) ofRequest(answer.req, more)
  }
}
