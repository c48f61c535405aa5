// An error as S3 clients read it.
import type { ErgonError } from '#base/errors.ts'
import { OPERATOR_ERRORS } from '#contract/operator-errors.ts'
import { isStorageCode, storageFault, type StorageCode } from '#contract/storage-errors.ts'
import { writePlainXml } from './xml/write.ts'

export type ErrorPlace = {
  readonly requestId: string
  /** The path as it was asked for. */
  readonly resource: string
  /** Names the host that answered, where AWS has a token of its own. */
  readonly hostId: string
}

export type RenderedFault = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty where HTTP allows none: 304 and replies to HEAD. */
  readonly body: string
}

/** Codes of the pipeline that reach S3 clients, in S3's words. */
const FOREIGN: Readonly<Record<string, StorageCode>> = {
  token_missing: 'AccessDenied',
  token_unknown: 'InvalidAccessKeyId',
  token_revoked: 'InvalidAccessKeyId',
  token_expired: 'ExpiredToken',
  scope_missing: 'AccessDenied',
  request_timeout: 'RequestTimeout',
  body_too_large: 'EntityTooLarge',
  not_implemented: 'NotImplemented',
  state_unavailable: 'ServiceUnavailable',
  overloaded: 'SlowDown',
  too_many_requests: 'SlowDown',
  draining: 'ServiceUnavailable',
  storage_full: 'InsufficientStorage',
  storage_fenced: 'ServiceUnavailable',
  storage_away: 'SlowDown',
  uri_too_long: 'InvalidURI',
  headers_too_large: 'RequestHeaderSectionTooLarge',
  malformed_request: 'InvalidRequest',
  invalid_request: 'InvalidRequest',
  method_not_allowed: 'MethodNotAllowed',
  internal: 'InternalError',
}

const isOfOperator = (code: string): boolean => Object.hasOwn(OPERATOR_ERRORS, code)

/**
 * The error's code in S3's words; one that S3 has no word for keeps its own, unless it is the operator's to
 * mend: a blob that is damaged or gone.
 */
export const codeOf = ({ code }: { readonly code: string }): string =>
  isStorageCode(code) ? code : (FOREIGN[code] ?? (isOfOperator(code) ? 'InternalError' : code))

/** What clients are told: of what is the operator's to mend that it is ours, and whether it may pass. */
export function told(error: ErgonError): ErgonError {
  if (!isOfOperator(error.code)) return error
  return storageFault(error.status === 503 ? 'ServiceUnavailable' : 'InternalError')
}

/** S3's clients know SlowDown by 503, and some try nothing else again. */
const statusOf = ({ code, status }: ErgonError): number =>
  code === 'too_many_requests' ? 503 : status

/** What every refusal says in its head. */
export function faultHeaders(error: ErgonError, place: ErrorPlace): Record<string, string> {
  const headers: Record<string, string> = {
    'x-amz-request-id': place.requestId,
    'x-amz-id-2': place.hostId,
    ...error.headers,
  }
  if (error.retryAfterS !== undefined) headers['retry-after'] = String(error.retryAfterS)
  return headers
}

/** The details that are told in the body. */
export const shownDetails = (error: ErgonError): [name: string, value: string][] =>
  Object.entries(error.details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, String(value)])

/**
 * The reply to a request that failed. The pipeline's own codes get S3's names and keep their message
 * and, but for too_many_requests, their status: 402 and 429 say what to do as everywhere else.
 */
export function renderFault(fault: ErgonError, method: string, place: ErrorPlace): RenderedFault {
  const error = told(fault)
  const headers = faultHeaders(error, place)
  const status = statusOf(error)
  if (status === 304 || method === 'HEAD') return { status, headers, body: '' }
  headers['content-type'] = 'application/xml'
  const body = writePlainXml('Error', [
    ['Code', codeOf(error)],
    ['Message', error.message],
    ...shownDetails(error),
    ['Resource', place.resource],
    ['RequestId', place.requestId],
    ['HostId', place.hostId],
  ])
  return { status, headers, body }
}
