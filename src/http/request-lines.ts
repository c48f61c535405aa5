// The requests of each connection of HTTP/1.1 run one after another. RFC 9112 §9.3.2 allows requests at once only where all
// have safe methods. Thirty connections that sent sixty GETs each and read nothing took 1.7 GB. Requests that wait behind
// another have bounded memory, in each connection and together.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { blockOf } from '#base/subnets.ts'
import { ByteSums, type ByteSum } from './byte-sums.ts'
import { PIPELINED_MAX } from './limits.ts'

/**
 * Requests that wait for the reply before have so much on all connections of a process. 500 connections of 60 small requests behind a held
 * reply took 90 MB of heap after a collection, and now 26; 200 of 60 requests of 4 KB took 83, and now 31.
 */
export const WAITING_BYTES_MAX = 32 * 1024 * 1024

/** The objects of a waiting request: 2.0 KiB of heap and 3.2 KiB of RSS for each of 30,000. */
const REQUEST_BYTES = 3 * 1024
/** Node reads so much of a body that nobody asks for. */
const UNASKED_BODY_BYTES = 128 * 1024

export interface RequestLines {
  /**
   * Begins a request once those before it on its connection have ended, and not at all when the connection has ended by
   * then. `begin` never rejects. A connection ends that has too many requests.
   */
  add(request: IncomingMessage, begin: () => Promise<void>): void
  /** Calls back behind the last request of a connection, which brings no more. */
  behind(socket: Socket, then: () => void): void
  /** Resolves when no request runs or waits. */
  idle(): Promise<void>
}

type WaitingRequest = { readonly bytes: number; begin(): Promise<void> }

type Line = {
  readonly socket: Socket
  /** Known once a request waits. */
  name: string | undefined
  /** The bytes of its network, while a request waits. */
  network: ByteSum | undefined
  isRunning: boolean
  readonly waiting: WaitingRequest[]
  /** The requests that wait have so many. */
  bytes: number
}

/**
 * Beyond `bytesMax` a connection ends: of the network whose requests take most, the connection whose requests do. Clients
 * that wait for each answer have none that waits.
 */
export function createRequestLines(bytesMax = WAITING_BYTES_MAX): RequestLines {
  const lines = new WeakMap<Socket, Line>()
  /** Lines with a request that waits. */
  const waiting = new Set<Line>()
  const networks = new ByteSums()
  let open = 0
  const resolves: (() => void)[] = []

  const lineOf = (socket: Socket): Line => {
    const known = lines.get(socket)
    if (known !== undefined) return known
    const line = newLine(socket)
    lines.set(socket, line)
    return line
  }
  const count = (line: Line, requests: number, bytes: number) => {
    open += requests
    line.bytes += bytes
    if (line.waiting.length > 0 && line.network === undefined) {
      line.network = networks.enter((line.name ??= blockOf(line.socket.remoteAddress ?? '')))
      waiting.add(line)
    }
    if (line.network !== undefined) networks.add(line.network, bytes)
    if (line.waiting.length === 0 && line.network !== undefined) {
      networks.leave(line.network)
      line.network = undefined
      waiting.delete(line)
    }
    if (open === 0) for (const resolve of resolves.splice(0)) resolve()
  }
  const run = (line: Line, begin: () => Promise<void>) => {
    line.isRunning = true
    void begin().then(() => {
      line.isRunning = false
      if (line.socket.destroyed) drop(line)
      const next = line.waiting.shift()
      // The one that runs now takes the place of the one that has ended.
      count(line, -1, -(next?.bytes ?? 0))
      if (next !== undefined) run(line, next.begin)
    })
  }
  const drop = (line: Line) => count(line, -line.waiting.splice(0).length, -line.bytes)
  const end = (line: Line) => {
    line.socket.destroy()
    drop(line)
  }
  const wait = (line: Line, one: WaitingRequest) => {
    line.waiting.push(one)
    count(line, 1, one.bytes)
    if (line.waiting.length >= PIPELINED_MAX) end(line)
    while (networks.bytes > bytesMax) end(largestOf(waiting))
  }

  return {
    add(request, begin) {
      const line = lineOf(request.socket)
      if (line.socket.destroyed) return
      if (line.isRunning) return wait(line, { bytes: bytesOf(request), begin })
      count(line, 1, 0)
      run(line, begin)
    },
    behind(socket, then) {
      const line = lineOf(socket)
      if (line.isRunning) wait(line, { bytes: 0, begin: async () => then() })
      else then()
    },
    idle: () =>
      new Promise((resolve) => {
        if (open === 0) resolve()
        else resolves.push(resolve)
      }),
  }
}

const newLine = (socket: Socket): Line => ({
  socket,
  name: undefined,
  network: undefined,
  isRunning: false,
  waiting: [],
  bytes: 0,
})

function bytesOf({ rawHeaders, headers, url = '' }: IncomingMessage): number {
  const headBytes = rawHeaders.reduce((sum, { length }) => sum + length, url.length)
  const isChunked = 'transfer-encoding' in headers
  const declared = isChunked ? UNASKED_BODY_BYTES : Number(headers['content-length'] ?? 0)
  return REQUEST_BYTES + headBytes + Math.min(declared, UNASKED_BODY_BYTES)
}

/** Of the network whose requests take most, the line whose do. */
function largestOf(lines: ReadonlySet<Line>): Line {
  const sumOf = ({ network }: Line) => network?.bytes ?? 0
  return lines
    .values()
    .reduce((most, line) =>
      (sumOf(line) - sumOf(most) || line.bytes - most.bytes) > 0 ? line : most,
    )
}
