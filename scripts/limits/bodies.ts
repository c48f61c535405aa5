// Limits: a JSON body.
import { BODY_MEMORY_BYTES } from '#http/body-memory.ts'
import { KEPT_BODY_BYTES_MAX } from '#http/idempotency.ts'
import * as http from '#http/limits.ts'
import { bytes, code, count, seconds, type LimitSection } from './limit.ts'

export const BODIES: LimitSection = {
  title: 'A JSON body',
  limits: [
    ['size', bytes(http.JSON_BODY_BYTES_MAX), code('body_too_large')],
    [
      'size, where the account cannot pay and the operation is answered all the same',
      bytes(http.UNPAID_BODY_BYTES_MAX),
      code('balance_depleted'),
    ],
    ['nesting', count(http.JSON_DEPTH_MAX), code('invalid_json')],
    ['time to arrive', seconds(http.BODY_TIMEOUT_MS), code('request_timeout')],
    [
      `least mean size of its pieces, once ${bytes(http.PIECES_BYTES_FREE)} are there`,
      bytes(http.PIECE_BYTES_MIN),
      code('malformed_request'),
    ],
    [
      'all bodies that are read at once, in each gateway (`ERGON_BODY_MEMORY_MIB`)',
      bytes(BODY_MEMORY_BYTES),
      code('overloaded'),
    ],
    [
      'an answer that is kept for its `Idempotency-Key`, for a day',
      bytes(KEPT_BODY_BYTES_MAX),
      code('idempotency_answer_too_large'),
    ],
  ],
}
