// The CPU of reads that bring no request, such as a head that comes byte by byte. Nobody marks after them by itself, so the
// requests beside them would pay.
import type { Socket } from 'node:net'

/** Node calls it for each read of a connection whose bytes go to the parser alone, and for each write. */
type TimedSocket = Socket & { _unrefTimer(): void; readonly _httpMessage?: unknown }

/** The answer that a socket is given to is this member of it, by node:http. */
export const owesAnswer = (socket: Socket): boolean =>
  Boolean((socket as Partial<TimedSocket>)._httpMessage)

/** Marks each read of a connection of HTTP/1.1 while no request of it runs. */
export function markEmptyReads(socket: Socket, mark: () => void): void {
  const timed = socket as TimedSocket
  const refresh = timed._unrefTimer
  let bytes = 0
  timed._unrefTimer = function () {
    refresh.call(this)
    const { bytesRead } = this
    if (bytesRead === bytes) return
    bytes = bytesRead
    if (!owesAnswer(this)) mark()
  }
}
