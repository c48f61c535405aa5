// Frames of HTTP/2 that Node takes without a word: window updates, priorities, padding, types that nobody knows, and parts of
// frames. Nobody can mark them, but bytes that bring nothing show that there are some. While there are, pieces of requests get
// their learned cost, and the operator pays the rest.
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { CausedByCells } from '#node/meter/caused-by-cells.ts'

const LOOK_MS = 200
/** Behind the last such bytes: bursts are as good as a steady flood. */
const DISTURBED_MS = 60_000
/** All connections together, between two looks. */
const SILENT_BYTES_MAX = 256
const RESETS_MAX = 16
/** Preface, settings and window of a client. */
const BEGIN_BYTES = 160
/** The head of a request, as it is coded; most are shorter. */
const HEAD_BYTES = 1024
/** The length of a name or a value, and their kind. */
const TEXT_BYTES = 4
const FRAME_BYTES = 32
/** A client that reads renews its window. */
const WRITTEN_PER_READ = 512

type Watched = { readonly session: ServerHttp2Session; takenBytes: number; readBytes: number }

/** Returns a watch of a session until its end. */
export function watchFrames({
  disturb,
}: Pick<CausedByCells['nobody'], 'disturb'>): (session: ServerHttp2Session) => void {
  const watched = new Set<Watched>()
  let silentBytes = 0
  let resets = 0
  let timer: NodeJS.Timeout | undefined

  const see = (
    one: Watched,
    { bytesRead, bytesWritten }: Pick<Socket, 'bytesRead' | 'bytesWritten'>,
  ) => {
    const bytes = bytesRead - one.takenBytes - Math.floor(bytesWritten / WRITTEN_PER_READ)
    silentBytes += Math.max(0, bytes - one.readBytes)
    one.readBytes = Math.max(one.readBytes, bytes)
  }
  const look = () => {
    for (const one of watched) if (!one.session.destroyed) see(one, one.session.socket)
    if (silentBytes > SILENT_BYTES_MAX || resets > RESETS_MAX) disturb(DISTURBED_MS)
    silentBytes = resets = 0
    timer = watched.size > 0 ? setTimeout(look, LOOK_MS).unref() : undefined
  }
  return (session) => {
    const one: Watched = { session, takenBytes: BEGIN_BYTES, readBytes: 0 }
    watched.add(one)
    timer ??= setTimeout(look, LOOK_MS).unref()
    session.on('ping', () => (one.takenBytes += FRAME_BYTES))
    session.on('stream', (stream, _headers, _flags, fields) => {
      one.takenBytes += headBytes(fields)
      countData(stream, (bytes) => (one.takenBytes += bytes))
      stream.once('close', () => stream.rstCode !== 0 && resets++)
    })
    session.socket.once('close', function (this: Socket) {
      watched.delete(one)
      see(one, this)
    })
  }
}

/**
 * The most that a head takes as it is coded. The table of HPACK may shorten a head by its own 4 KiB, as a repeated header
 * counts once here. A sum of all would hide 3600 frames behind a head.
 */
function headBytes(fields: readonly string[]): number {
  let bytes = FRAME_BYTES
  for (const { length } of fields) bytes += length + TEXT_BYTES
  if (bytes <= HEAD_BYTES) return HEAD_BYTES
  const headers = new Set(
    fields.map((name, at) => (at % 2 === 0 ? `${name}:${fields[at + 1]}` : '')),
  )
  bytes = FRAME_BYTES
  for (const { length } of headers) bytes += length + 2 * TEXT_BYTES
  return Math.max(HEAD_BYTES, bytes)
}

/** A listener of data would begin to read. */
function countData(stream: ServerHttp2Stream, count: (bytes: number) => void): void {
  const { push } = stream
  stream.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null) count(chunk.length + FRAME_BYTES)
    return push.call(stream, chunk, encoding)
  }
}
