// The bytes of a socket, without Node's readable stream: a session's bytes are written on at once, so the memory, queue
// and events of a stream for each read are of no use. They took 3.6 µs of the 23 µs of a round trip without TLS, 2.9 of
// 25 with it (medians of five interleaved runs).
//
// net.connect() has this as its option `onread`; sockets that were accepted or speak TLS cannot be given it. So what
// the option sets at a socket's beginning is set here when a session begins. Where Node has changed that, bytes come by
// 'data' events, and a test fails.
import type { Socket } from 'node:net'

/** Called with bytes that are valid until it returns. */
export type TakeBytes = (bytes: Buffer) => void

/** As libuv asks for. All sockets have the same: bytes are taken before the next read. */
const READ = Buffer.allocUnsafeSlow(65_536)

/** The fields of a socket that `onread` sets. */
type Fields = { readonly buffer: symbol; readonly take: symbol }
type Handle = { readonly useUserBuffer?: (buffer: Buffer) => void }

/**
 * Hands all bytes of a socket over, from those that wait in its stream on, and lets it flow. Returns an end of that: the
 * bytes after it are in the stream again, for a `read()`.
 */
export function takeBytes(socket: Socket, take: TakeBytes): () => void {
  for (
    let early = socket.read() as Buffer | null;
    early !== null;
    early = socket.read() as Buffer | null
  )
    take(early)
  const end = takeDirectly(socket, take) ?? takeByEvents(socket, take)
  socket.resume()
  return end
}

/** Undefined where Node's sockets have no such fields. */
function takeDirectly(socket: Socket, take: TakeBytes): (() => void) | undefined {
  const fields = fieldsOf(socket)
  const handle = Reflect.get(socket, '_handle') as Handle | null
  if (fields === undefined || handle?.useUserBuffer === undefined) return undefined
  const set = (taken: (bytes: Buffer) => boolean) =>
    Reflect.set(socket, fields.take, (count: number) => taken(READ.subarray(0, count)))
  set((bytes) => {
    take(bytes)
    return true
  })
  if (Reflect.get(socket, fields.buffer) !== READ) {
    Reflect.set(socket, fields.buffer, READ)
    handle.useUserBuffer(READ)
  }
  return () => void set((bytes) => socket.push(Buffer.from(bytes)))
}

function fieldsOf(socket: Socket): Fields | undefined {
  const symbols = Object.getOwnPropertySymbols(socket)
  const named = (name: string) => symbols.find(({ description }) => description === name)
  const [buffer, take] = [named('kBuffer'), named('kBufferCb')]
  return buffer === undefined || take === undefined ? undefined : { buffer, take }
}

function takeByEvents(socket: Socket, take: TakeBytes): () => void {
  socket.on('data', take)
  return () => void socket.off('data', take)
}
