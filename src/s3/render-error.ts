// Renders an error as S3 clients expect it.
import type { ErgonError } from '#base/errors.ts'
import { advised } from '#contract/errors.ts'
import { OPERATOR_ERRORS } from '#contract/operator/operator-errors.ts'
import { isStorageCode, storageFault, type StorageCode } from '#contract/storage/storage-errors.ts'
import { writePlainXml } from './xml/write.ts'

export type ErrorPlace = {
  readonly requestId: string
  /** The path of the request. */
  readonly resource: string
  /** The host id of the reply; AWS has an opaque token. */
  readonly hostId: string
}

export type RenderedFault = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty for 304 and replies to HEAD. */
  readonly body: string
}

/** S3's codes for codes of the pipeline. */
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
  rate_limit_exceeded: 'SlowDown',
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
 * The S3 code of an error. A code without an S3 equivalent stays, except the operator's (a damaged or missing blob).
 */
export const codeOf = ({ code }: { readonly code: string }): string =>
  isStorageCode(code) ? code : (FOREIGN[code] ?? (isOfOperator(code) ? 'InternalError' : code))

const DAMAGED = new Set(['blob_damaged', 'blob_missing'])
/** S3 has no code for this, and its own text asks for another try. */
const DAMAGED_TEXT =
  'The stored bytes of this object are damaged or missing. Another try gets the same answer. Write the object again, or ask the operator, whom an alarm has told, to restore it.'

export const PAGE_DAMAGED_TEXT =
  'A page of the storage of this object cannot be read. Another try, also to write or delete the object, gets the same answer. An alarm has told the operator.'

/** The error that clients see. An operator's error is InternalError or ServiceUnavailable. */
export function shownError(error: ErgonError): ErgonError {
  if (!isOfOperator(error.code)) return error
  if (DAMAGED.has(error.code)) return storageFault('InternalError', DAMAGED_TEXT)
  if (error.code === 'page_damaged') return storageFault('InternalError', PAGE_DAMAGED_TEXT)
  return storageFault(error.status === 503 ? 'ServiceUnavailable' : 'InternalError')
}

/** S3 clients expect SlowDown with 503; some retry nothing else. */
const statusOf = ({ code, status }: ErgonError): number =>
  status === 429 && codeOf({ code }) === 'SlowDown' ? 503 : status

/** The headers of every error. */
export function faultHeaders(error: ErgonError, place: ErrorPlace): Record<string, string> {
  const headers: Record<string, string> = {
    'x-amz-request-id': place.requestId,
    'x-amz-id-2': place.hostId,
    ...error.headers,
  }
  if (error.retryAfterS !== undefined) headers['retry-after'] = String(error.retryAfterS)
  return headers
}

/** The details in the body. */
export const shownDetails = (error: ErgonError): [name: string, value: string][] =>
  Object.entries(error.details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, String(value)])

/**
 * The reply to a failed request. Errors of the pipeline get S3's codes and keep their message and their status,
 * except where clients are to slow down: 402 and 429 mean the same as everywhere else. A code that S3 has not comes with
 * its advice.
 */
export function renderFault(fault: ErgonError, method: string, place: ErrorPlace): RenderedFault {
  const error = shownError(fault)
  const headers = faultHeaders(error, place)
  const status = statusOf(error)
  if (status === 304 || method === 'HEAD') return { status, headers, body: '' }
  headers['content-type'] = 'application/xml'
  const body = writePlainXml('Error', [
    ['Code', codeOf(error)],
    [
      'Message',
      codeOf(error) === error.code && !isStorageCode(error.code) ? advised(error) : error.message,
    ],
    ...shownDetails(error),
    ['Resource', place.resource],
    ['RequestId', place.requestId],
    ['HostId', place.hostId],
  ])
  return { status, headers, body }
}
