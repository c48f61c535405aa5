// Reads of a known length from a socket that is not flowing: what is not asked for stays in the socket.
import type { Socket } from 'node:net'
import { Failure } from '#base/errors.ts'

/** The work that waits for bytes: its deadline, and the payer of its CPU until then. */
export type ByteWait = {
  readonly signal: AbortSignal
  /** The CPU of this process since the last mark is this work's. */
  readonly mark: () => void
}

/** The next bytes; rejects when the socket ends or fails first, or with the signal's reason. */
export async function readBytes(
  socket: Socket,
  count: number,
  { signal, mark }: ByteWait,
): Promise<Buffer> {
  mark()
  signal.throwIfAborted()
  return readAtOnce(socket, count) ?? (await readLater(socket, count, { signal, mark }))
}

/** Undefined where the bytes are not there yet. */
function readAtOnce(socket: Socket, count: number): Buffer | undefined {
  const bytes = socket.read(count) as Buffer | null
  // At its end a stream gives the rest.
  if (bytes?.length === count) return bytes
  if (bytes !== null || socket.destroyed) throw closed()
  return undefined
}

function readLater(socket: Socket, count: number, { signal, mark }: ByteWait): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      socket.off('readable', look).off('end', ended).off('error', fail).off('close', ended)
      signal.removeEventListener('abort', stop)
      act()
    }
    const fail = (error: unknown) => settle(() => reject(error))
    const ended = () => fail(closed())
    const stop = () => fail(signal.reason)
    const look = () => {
      // Bytes that come one by one cost a reading each: sessions beside them pay none of that.
      mark()
      try {
        const bytes = readAtOnce(socket, count)
        if (bytes !== undefined) settle(() => resolve(bytes))
      } catch (error) {
        fail(error)
      }
    }
    socket.on('readable', look).on('end', ended).on('error', fail).on('close', ended)
    signal.addEventListener('abort', stop, { once: true })
  })
}

const closed = () => new Failure('the connection was closed')

/** A message's type and body. Throws a RangeError for one of more than `bytesMax`. */
export async function readMessage(
  socket: Socket,
  bytesMax: number,
  waiting: ByteWait,
): Promise<{ readonly type: number; readonly body: Buffer }> {
  const head = await readBytes(socket, 5, waiting)
  const length = head.readInt32BE(1) - 4
  if (length < 0 || length > bytesMax) throw new RangeError(`a message of ${length} bytes`)
  const body = length === 0 ? Buffer.alloc(0) : await readBytes(socket, length, waiting)
  return { type: head[0] ?? 0, body }
}
