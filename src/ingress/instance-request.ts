// A request of a client as an instance gets it.
import { malformed } from '#http/request-form.ts'
import type { IngressRequest } from './exchange.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { headersTo } from './headers.ts'
import type { HttpRequest, HttpRequestBody } from '#http-client/http-connection.ts'
import { sendBody, type RequestBody } from './instance/send-body.ts'
import { rulesOfKind } from './kinds.ts'

/** Throws malformed_request. */
export function instanceRequest(
  request: IngressRequest,
  given: ForwardedRequest,
  isUpgrade: boolean,
): HttpRequest {
  const { method = 'GET' } = request
  const headers = headersTo(request, given)
  const body = bodyOf(request, given)
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (isUpgrade && (length ?? encoding) !== undefined)
    throw malformed('it asks for another protocol behind a body')
  return { method, path: given.path, headers, body: body && streamed(body), isUpgrade }
}

/** Sent as it comes. */
export const streamed = (body: RequestBody): HttpRequestBody => ({
  length: body.length,
  send: (socket, events) => sendBody(socket, body, events),
})

/** A length counts where the stream has ended, too: a body that does not come is a fault. */
export const hasBody = (request: IngressRequest): boolean =>
  request.headers['transfer-encoding'] !== undefined ||
  (request.headers['content-length'] ?? '0') !== '0' ||
  ('stream' in request && !request.stream.endAfterHeaders)

function bodyOf(request: IngressRequest, { kind }: ForwardedRequest): RequestBody | undefined {
  if (!hasBody(request)) return undefined
  const { 'content-length': declared } = request.headers
  if (declared !== undefined && !/^\d{1,15}$/.test(declared))
    throw malformed('its length is no number')
  const length = declared === undefined ? undefined : Number(declared)
  return { stream: request, length, bytesMax: rulesOfKind(kind).bodyBytesMax }
}
