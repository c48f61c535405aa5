// The body of a request on its way to an instance: as it comes, and as slowly as the instance takes it. Nothing of it is read
// before the instance has taken the connection: another one may be asked until then.
import type { Socket } from 'node:net'
import { fault } from '#contract/errors.ts'
import { malformed } from '#http/request-form.ts'
import type { IngressRequest } from '#ingress/exchange.ts'
import { FRAMING_PER_DATA_MAX, isTooMuchFraming } from '#http-client/framing-limits.ts'
import type { BodyEvents } from '#http-client/http-connection.ts'

/** Pieces up to this go out together once a turn: three writes for each byte were most of the time of the ingress. */
const JOINED_BYTES_MAX = 512
/**
 * The most pieces of one turn: after more, other connections have theirs. libuv reads up to 32 blocks of a connection
 * before.
 */
const PIECES_MAX = 256
/** The size and two ends of line around a chunk are five bytes at least. */
const FRAMING_OF_PIECE_BYTES = 5

export type RequestBody = {
  readonly stream: IngressRequest
  readonly bytesMax: number
  /** Undefined: it goes in chunks. */
  readonly length: number | undefined
  readonly nowMs?: () => number
}

/** Returns an end of that, after which the stream is paused. */
export function sendBody(
  socket: Socket,
  { stream, bytesMax, length, nowMs = () => performance.now() }: RequestBody,
  { read, sent, failed }: BodyEvents,
): () => void {
  /** The framing less its share of the data. */
  let framingBytes = 0
  let bytes = 0
  const begunMs = nowMs()
  let small: Buffer[] = []
  let turn: NodeJS.Immediate | undefined
  const leave = () => {
    if (turn !== undefined) clearImmediate(turn)
    if (small.length > PIECES_MAX) setOthersTurn(stream, false)
    small = []
    socket.off('connect', begin)
    socket.off('drain', more)
    stream.off('data', take)
    stream.off('end', whole)
  }
  const end = () => {
    leave()
    stream.pause()
  }
  const fail = (error: Error) => {
    end()
    failed(error)
  }
  const take = (chunk: Buffer) => {
    bytes += chunk.length
    read(chunk.length)
    if (bytes > bytesMax) return fail(tooLarge(bytesMax))
    framingBytes += FRAMING_OF_PIECE_BYTES - FRAMING_PER_DATA_MAX * chunk.length
    if (isTooMuchFraming(framingBytes, begunMs, nowMs)) return fail(crumbled())
    // The instance would take the rest for another request.
    if (length !== undefined && bytes > length) return fail(wrongLength('longer'))
    if (chunk.length > JOINED_BYTES_MAX) {
      write()
      return send(chunk)
    }
    if (small.push(chunk) === PIECES_MAX + 1) setOthersTurn(stream, true)
    turn ??= setImmediate(write)
  }
  const send = (chunk: Buffer) => {
    if (!(length === undefined ? writeChunk(socket, chunk) : socket.write(chunk))) stream.pause()
  }
  /** Sends the small pieces. */
  const write = () => {
    if (turn !== undefined) clearImmediate(turn)
    turn = undefined
    const pieces = small.splice(0)
    if (pieces.length > 0) send(Buffer.concat(pieces))
    if (pieces.length > PIECES_MAX) setOthersTurn(stream, false)
  }
  const whole = () => {
    if (stream.aborted || (length !== undefined && bytes < length))
      return fail(wrongLength('shorter'))
    write()
    leave()
    if (length === undefined) socket.write('0\r\n\r\n', 'latin1')
    sent()
  }
  const more = () => void stream.resume()
  const begin = () => {
    socket.on('drain', more)
    stream.on('data', take)
    stream.once('end', whole)
    stream.resume()
  }
  if (socket.connecting) socket.once('connect', begin)
  else begin()
  return end
}

/** Streams of HTTP/2 share a socket that they do not stop: their windows bound them. */
function setOthersTurn(stream: IngressRequest, isTheirs: boolean): void {
  if (stream.httpVersionMajor === 2) return
  const { socket } = stream
  if (!isTheirs) {
    socket.off('resume', pauseAgain).resume()
    return
  }
  socket.on('resume', pauseAgain).pause()
}

/** Node resumes the socket of a request with each piece that is taken. */
function pauseAgain(this: Socket): void {
  this.pause()
}

/** Each costs 1.6 µs of CPU that no account pays for. */
const crumbled = () =>
  malformed('its body comes in too many pieces of few bytes: send larger pieces, or fewer a second')

const tooLarge = (bytesMax: number) =>
  fault('body_too_large', `Could not take the body: the most is ${bytesMax} bytes`)

function writeChunk(socket: Socket, chunk: Buffer): boolean {
  socket.cork()
  socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
  socket.write(chunk)
  const isTaken = socket.write('\r\n', 'latin1')
  socket.uncork()
  return isTaken
}

const wrongLength = (what: 'longer' | 'shorter') => malformed(`its body is ${what} than told`)
