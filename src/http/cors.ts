// CORS of the API (Fetch standard, section 3.3): pages of any origin may ask and may read the answers. Tokens
// are sent as bearer, never as a cookie, so a page can only use a token that the page has: no credentials are
// allowed. Buckets have CORS rules of their own, in the S3 protocol.
import { LIMIT_HEADERS, REPLAY_HEADERS, RESPONSE_HEADERS } from '#contract/headers.ts'
import type { HeaderList } from './energy-headers.ts'
import type { Exchange } from './exchange.ts'
import type { Handler, ReplyHeaders } from './reply.ts'

/** Response headers that scripts may read, beside the ten that the Fetch standard always allows. */
const EXPOSED: readonly string[] = [
  ...Object.keys({ ...RESPONSE_HEADERS, ...LIMIT_HEADERS, ...REPLAY_HEADERS }),
  'x-router-reason',
  'x-should-retry',
  'x-api-preview',
  'Retry-After',
  'Allow',
  'WWW-Authenticate',
]

/** On every answer of the API, refusals too. */
export const CORS_HEADERS: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED.join(', '),
]

/** For how long a browser need not ask again: the most that Chromium keeps an answer. */
const MAX_AGE_S = 7200
/** A list of header names, as browsers send it: lower case, sorted, of one line. */
const NAMES = /^[\w!#$%&'*+.^`|~-]+(?:, ?[\w!#$%&'*+.^`|~-]+)*$/
const NAMES_LENGTH_MAX = 2048

/** The request is a preflight: a browser asks for permission on behalf of a script. */
export const isPreflight = (exchange: Exchange): boolean =>
  exchange.method === 'OPTIONS' &&
  exchange.header('origin') !== undefined &&
  exchange.header('access-control-request-method') !== undefined

/** Answers OPTIONS: these methods, and the headers that were asked for. `*` would leave out Authorization. */
export const optionsHandler =
  (methods: readonly string[]): Handler =>
  ({ headers }) => {
    const asked = headers['access-control-request-headers'] ?? ''
    const isReadable = asked.length <= NAMES_LENGTH_MAX && NAMES.test(asked)
    return {
      kind: 'known',
      status: 204,
      headers: {
        Allow: ['OPTIONS', ...methods].join(', '),
        'Access-Control-Allow-Methods': methods.join(', '),
        ...(isReadable ? ({ 'Access-Control-Allow-Headers': asked } satisfies ReplyHeaders) : {}),
        'Access-Control-Max-Age': String(MAX_AGE_S),
        Vary: 'Access-Control-Request-Headers',
      },
      body: () => '',
    }
  }
