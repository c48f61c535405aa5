// Limits on requests and connections: bytes, counts and times. `request-form.ts` checks the form of a request.

export const HEADER_BYTES_MAX = 16 * 1024
export const HEADERS_MAX = 100
export const TARGET_BYTES_MAX = 8 * 1024
export const JSON_BODY_BYTES_MAX = 8 * 1024 * 1024
/** The same of an account that cannot pay: nobody pays for a longer one, and a suspension has 18 bytes. */
export const UNPAID_BODY_BYTES_MAX = 16 * 1024
/** Least mean size of the pieces of a long body: each piece costs microseconds of CPU. */
export const PIECE_BYTES_MIN = 256
/** A lot: a body of which less came may be in pieces of any size. */
export const PIECES_BYTES_FREE = 64 * 1024
export const JSON_DEPTH_MAX = 64
export const CONNECTIONS_MAX = 10_000
/** Of one network; connections of trusted proxies are those of many. */
export const CONNECTIONS_OF_NETWORK_MAX = 2500
export const HEADERS_TIMEOUT_MS = 10_000
/** Longest arrival of a JSON body. The body of an object has no such limit: only silence ends it. */
export const BODY_TIMEOUT_MS = 60_000
export const KEEP_ALIVE_MS = 65_000
/** Time and bytes within which the rest of a refused body is read and dropped. */
export const DISCARD_MS_MAX = 5000
export const DISCARD_BYTES_MAX = 4 * JSON_BODY_BYTES_MAX
export const DEADLINE_MS = 600_000
/** The longest that an object may take in or out: 1 TiB at 12 MiB/s. */
export const TRANSFER_DEADLINE_MS = 24 * 3_600_000
export const CONNECTION_CHECK_MS = 2000
/** A connection on which nothing moves: longer than the longest wait for an answer. */
export const SILENCE_MS_MAX = DEADLINE_MS + 30_000
/** A client that reads nothing while the rest of its reply is in memory: pauses of a large object are as long as any. */
export const UNREAD_MS_MAX = 60_000
/** Requests that one connection may send ahead; no honest client sends this many. */
export const PIPELINED_MAX = 64
