// The headers that every reply of the API carries, for people and for OpenAPI. The table is held
// against http/energy-headers.ts by a test.

/** Origin of a figure when the head is written. */
export type HeaderClass = 'every' | 'settled' | 'streamed'

/** Sent back when an earlier answer is given again; the other headers are those of this request. */
export const REPLAY_HEADERS = {
  'Idempotency-Replayed': {
    help: 'This answer is an earlier one of the same key.',
    example: 'true',
  },
  'X-Original-Receipt-Id': {
    help: 'The receipt of the request that was answered first.',
    example: 'rcpt_01m7z0kybvfnr8s3g16q4mygpz',
  },
} as const satisfies Record<string, { help: string; example: string }>

/** On answers to identified callers: draft-ietf-httpapi-ratelimit-headers-10. */
export const LIMIT_HEADERS = {
  'RateLimit-Policy': {
    help: 'The limits of the caller: by name the requests (`q`) that it may send in a window of seconds (`w`).',
    example: '"account";q=60000;w=60',
  },
  RateLimit: {
    help: 'What is left of each limit at this gateway (`r`), and the seconds until all of it is there again (`t`).',
    example: '"account";r=59999;t=1',
  },
} as const satisfies Record<string, { help: string; example: string }>

export const RESPONSE_HEADERS = {
  'X-Energy-Joules': {
    on: 'every',
    help: 'Energy of the request in joules. On a streamed reply the most that it can be billed; its end is in `usage` and in the trailer.',
    example: '0.418819679',
  },
  'X-Carbon-mg': {
    on: 'every',
    help: 'Carbon dioxide equivalent of that energy in milligrams.',
    example: '0.055028252',
  },
  'X-Routed-To': {
    on: 'every',
    help: 'Who served: operator/region/silicon.',
    example: 'ergon/local/cpu-x64',
  },
  'X-Tier': {
    on: 'every',
    help: 'How hard the request looked, L0 to L3; L0 where no model was asked.',
    example: 'L0',
  },
  'X-Receipt-Id': {
    on: 'every',
    help: 'The receipt of this request: GET /v1/receipts/{id} once it is sealed. Requests that no account pays for share one.',
    example: 'rcpt_01m7z0kybvfnr8s3g16q4mygpz',
  },
  'x-request-id': {
    on: 'every',
    help: 'The request; what to name when something is wrong.',
    example: 'req_01m7z0kybvfnr8s3g16q4mygpz',
  },
  'X-Energy-Method': {
    on: 'every',
    help: 'How the energy is known, with its declared error band: the method and the band of the receipt. In the head of a streamed reply, the worst that its parts may have; its end is in the trailer.',
    example: 'model; band=40%',
  },
  'X-Energy-Estimate': {
    on: 'streamed',
    help: '`ceiling`: the two figures of this head are upper bounds.',
    example: 'ceiling',
  },
  Trailer: {
    on: 'streamed',
    help: 'Names what follows the last chunk: the figures, and how the energy is known.',
    example: 'X-Energy-Joules, X-Carbon-mg, X-Energy-Method',
  },
} as const satisfies Record<string, { on: HeaderClass; help: string; example: string }>
