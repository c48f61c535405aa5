// Connections of HTTP/2, by TLS and in the clear: their limits, and their ends.
import type { Http2Server, Http2SecureServer, ServerHttp2Session } from 'node:http2'
import type { CausedByCells } from '#node/meter/caused-by-cells.ts'
import { HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS } from '#http/limits.ts'
import { everySixteenth } from './mark-strangers.ts'
import { watchFrames } from './watch-frames.ts'
import {
  ROUTED_HEADER_BYTES_MAX,
  ROUTED_HEADERS_MAX,
  ROUTED_SILENCE_MS_MAX,
} from './listener-limits.ts'

/** Requests that one connection may have under way. */
const STREAMS_MAX = 100

/** Data frames without data, and the like: then the connection ends. */
const INVALID_FRAMES_MAX = 50
/** Behind as many in a row as there may be streams; then the connection ends. */
const RESETS_OF_SECOND = 33

/** Browsers open connections of HTTP/1.1 for WebSocket while no extended CONNECT is offered. */
export const HTTP2_OPTIONS = {
  settings: { maxConcurrentStreams: STREAMS_MAX, maxHeaderListSize: ROUTED_HEADER_BYTES_MAX },
  maxHeaderListPairs: ROUTED_HEADERS_MAX,
  maxSessionInvalidFrames: INVALID_FRAMES_MAX,
  streamResetBurst: STREAMS_MAX,
  streamResetRate: RESETS_OF_SECOND,
}

/** Returns an end of all connections after their last requests. */
export function limitSessions(
  server: Http2Server | Http2SecureServer,
  nobody: CausedByCells['nobody'],
): () => void {
  const sessions = new Set<ServerHttp2Session>()
  const watch = watchFrames(nobody)
  server.on('sessionError', () => undefined)
  server.setTimeout(ROUTED_SILENCE_MS_MAX)
  server.on('session', (session: ServerHttp2Session) => {
    endUnused(session)
    markFrames(session, everySixteenth(nobody))
    watch(session)
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  return () => sessions.forEach((session) => session.close())
}

/** Ends a connection on which no request comes in time, as one of HTTP/1.1 is ended. */
function endUnused(session: ServerHttp2Session): void {
  let running = 0
  const rest = (ms: number) => setTimeout(() => session.close(), ms).unref()
  let timer = rest(HEADERS_TIMEOUT_MS)
  session.on('stream', (stream) => {
    running++
    clearTimeout(timer)
    stream.once('close', () => {
      if (--running === 0 && !session.closed) timer = rest(KEEP_ALIVE_MS)
    })
  })
  session.once('close', () => clearTimeout(timer))
}

/** Marks frames that Node answers, and ends of requests: those beside them pay none of that. */
function markFrames(session: ServerHttp2Session, mark: () => void): void {
  session.on('ping', mark).on('remoteSettings', mark)
  session.on('stream', (stream) => stream.once('close', mark))
}
