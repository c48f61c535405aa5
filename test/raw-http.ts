// HTTP/1.1 by hand: sends bytes that no client library would send and reads what comes back.
import { connect, type Socket } from 'node:net'
import { isSilent, untilHeard } from './patient-fetch.ts'

export type RawResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
export type RawOutcome = {
  /** Every complete response, interim ones (1xx) left out. */
  readonly responses: readonly RawResponse[]
  readonly interim: readonly number[]
  /** True when the server closed the connection, false when the client gave up. */
  readonly closed: boolean
  readonly elapsedMs: number
}
export type RawOptions = {
  /** Stop waiting when this many final responses are there. */
  readonly responses?: number
  /** The request is a HEAD: its answer has no body, whatever length it names. */
  readonly head?: boolean
  /** Once they are there, wait this long for one more that must not come. */
  readonly lingerMs?: number
  /** Give up after this long. */
  readonly timeoutMs?: number
  /** More to send, piece by piece, after the first bytes. */
  readonly then?: (socket: Socket) => void
}

/**
 * Sends `text` as latin-1 bytes and collects responses until enough are there or the server closes; anew
 * where an answer says that the state was silent.
 */
export const sendRaw = (
  port: number,
  text: string | Uint8Array,
  options: RawOptions = {},
): Promise<RawOutcome> =>
  untilHeard(
    () => sendOnce(port, text, options),
    ({ responses }) => !responses.some(({ status, body }) => isSilent(status, body)),
  )

function sendOnce(
  port: number,
  text: string | Uint8Array,
  { responses: wanted = 1, lingerMs = 0, timeoutMs = 10_000, head = false, then }: RawOptions,
): Promise<RawOutcome> {
  return new Promise((resolve) => {
    const startedMs = performance.now()
    const socket = connect({ port, host: '127.0.0.1' })
    let received = ''
    let finished = false
    const finish = (closed: boolean) => {
      if (finished) return
      finished = true
      clearTimeout(timer)
      socket.destroy()
      resolve({ ...parseAll(received, head), closed, elapsedMs: performance.now() - startedMs })
    }
    const timer = setTimeout(() => finish(false), timeoutMs)
    socket.on('connect', () => {
      socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text)
      then?.(socket)
    })
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      if (parseAll(received, head).responses.length < wanted) return
      if (lingerMs === 0) finish(false)
      else setTimeout(() => finish(false), lingerMs)
    })
    // A reset is what a server may do; what arrived before it counts.
    socket.on('error', () => finish(true))
    socket.on('close', () => finish(true))
  })
}

function parseAll(
  received: string,
  head: boolean,
): { responses: RawResponse[]; interim: number[] } {
  const responses: RawResponse[] = []
  const interim: number[] = []
  let rest = received
  for (;;) {
    const one = parseOne(rest, head)
    if (one === undefined) return { responses, interim }
    if (one.response.status < 200) interim.push(one.response.status)
    else responses.push(one.response)
    rest = rest.slice(one.length)
  }
}

function parseOne(
  text: string,
  head: boolean,
): { response: RawResponse; length: number } | undefined {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, Math.max(end, 0)).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
  if (end < 0 || Number.isNaN(status)) return undefined
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const from = end + 4
  if (headers['transfer-encoding'] === 'chunked') {
    const last = text.indexOf('\r\n0\r\n', from - 2)
    const stop = last < 0 ? -1 : text.indexOf('\r\n\r\n', last + 1)
    if (stop < 0) return undefined
    return { response: { status, headers, body: text.slice(from, stop) }, length: stop + 4 }
  }
  const length = head ? 0 : Number(headers['content-length'] ?? 0)
  if (text.length < from + length) return undefined
  return {
    response: { status, headers, body: text.slice(from, from + length) },
    length: from + length,
  }
}
