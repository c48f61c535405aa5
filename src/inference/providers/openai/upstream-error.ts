// Translates a refusal of an upstream for our caller. A fault of the request is passed on. Any other refusal concerns
// the operator: an upstream's 401 or rate limit is not the caller's.
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'

export const ERROR_BYTES_MAX = 64 * 1024
const MESSAGE_LENGTH_MAX = 500
const RETRY_AFTER_S_MAX = 3600

/** The fault for an answer that is not 200. `text` is its body, as far as it was read. */
export function refusalFault(
  provider: string,
  answer: { readonly status: number; readonly text: string; readonly retryAfterS?: number },
): ErgonError {
  const { status, retryAfterS } = answer
  const said = errorOf(answer.text)
  const after = retryAfterS === undefined ? {} : { retryAfterS }
  if (status === 400 || status === 413 || status === 422) return requestFault(said)
  if (status === 503 && said.code === 'model_loading')
    return fault('model_loading', `Could not ask ${provider} yet: the model is loading`, {
      retryAfterS: retryAfterS ?? 2,
    })
  if (status === 429 || status === 503)
    return fault('overloaded', `Could not ask ${provider}: it answered ${status}`, {
      retryAfterS: retryAfterS ?? 1,
    })
  if (status === 408 || status === 504)
    return fault('upstream_timeout', `Could not wait for ${provider}: it answered ${status}`)
  return fault('upstream_failed', `Could not use ${provider}: it answered ${status}`, after)
}

const PASSED = ['context_length_exceeded', 'unsupported_parameter'] as const

function requestFault(said: UpstreamError): ErgonError {
  const code =
    PASSED.find((known) => known === said.code) ??
    // vLLM and llama-server have no code for it, only words.
    (/context (length|size|window)/i.test(said.message) ? 'context_length_exceeded' : undefined)
  return fault(
    code ?? 'invalid_request',
    said.message === '' ? 'The model refused the request' : said.message,
    said.param === undefined ? {} : { param: said.param },
  )
}

type UpstreamError = { message: string; code?: string; param?: string }

/** The OpenAI error object in a body or SSE chunk, in the forms that servers give it. */
export function errorOf(text: string): UpstreamError {
  const object = objectIn(text)
  const error = recordOf(object?.['error']) ?? object
  const message = error?.['message'] ?? error?.['detail'] ?? object?.['error']
  const code = error?.['code']
  const param = error?.['param']
  return {
    message: typeof message === 'string' ? message.slice(0, MESSAGE_LENGTH_MAX) : '',
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof param === 'string' ? { param: param.slice(0, MESSAGE_LENGTH_MAX) } : {}),
  }
}

/** Why an answer that has begun may end, besides for failing: the request's own fault, or a cell's new start. */
const BROKEN_OFF = ['context_length_exceeded', 'invalid_request', 'model_loading'] as const
/** About the start time of a small model. */
const RESTART_S = 2

/** The fault that an upstream tells in the middle of its answer, as the text of an event or a line. */
export function streamFault(text: string): ErgonError {
  const said = errorOf(text)
  const code = BROKEN_OFF.find((known) => known === said.code) ?? 'upstream_failed'
  return fault(code, said.message === '' ? 'The upstream broke off with an error' : said.message, {
    ...(said.param === undefined ? {} : { param: said.param }),
    ...(code === 'model_loading' ? { retryAfterS: RESTART_S } : {}),
  })
}

/** The figures in the body of a refusal; undefined when it has none. */
export const figuresIn = (text: string): unknown => objectIn(text)?.['ergon']

/** undefined for an HTML page of some proxy and the like: nothing in it is for our caller. */
function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    return recordOf(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const recordOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined

/** Seconds of a Retry-After header (RFC 9110 §10.2.3: delay or HTTP date), at most an hour. */
export function retryAfterOf(header: unknown, wallMs: number): number | undefined {
  if (typeof header !== 'string' || header === '') return undefined
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : Math.ceil((Date.parse(header) - wallMs) / 1000)
  if (Number.isNaN(seconds)) return undefined
  return Math.min(Math.max(seconds, 0), RETRY_AFTER_S_MAX)
}
