// Refusals of the ingress: a page for browsers, a status for gRPC, problem+json for others, with the reason.
import type { Logger } from '#base/log.ts'
import { isServiceFault } from '#contract/errors.ts'
import { renderProblem, toErgonError } from '#http/problem.ts'
import { isGrpc } from './grpc/is-grpc.ts'
import { refuseCall } from './grpc/refuse-call.ts'
import { cutOff, isHttp2, type IngressRequest, type IngressResponse } from './exchange.ts'
import { refusalPage } from './refusal-page.ts'
import { dropRest, isRestOpen } from './rest-of-body.ts'

/** Answers with the thrown error, or cuts off an answer that has begun. */
export function refuseRequest(
  request: IngressRequest,
  response: IngressResponse,
  thrown: unknown,
  {
    requestId,
    headers,
    log,
  }: {
    readonly requestId: string
    readonly headers: Record<string, string>
    readonly log: Logger
  },
): void {
  const error = toErgonError(thrown)
  if (error.code === 'internal') log.error('A request failed', { requestId, thrown })
  else if (isServiceFault(error))
    log.debug('A request was refused', { requestId, code: error.code })
  if (response.headersSent) return cutOff(response)
  if (isGrpc(request)) return refuseCall(response, error, { ...headers, 'x-request-id': requestId })
  const problem = renderProblem(error, { requestId })
  const { body, contentType } = wantsPage(request) ? refusalPage(error, requestId) : problem
  response.writeHead(error.status, {
    ...problem.headers,
    ...headers,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    'cache-control': 'no-store',
    vary: 'accept',
    // The rest of the body is not read.
    ...(!isHttp2(request) && isRestOpen(request) && { connection: 'close' }),
  })
  response.end(body)
  dropRest(request, response)
}

/** Browsers name HTML first; clients of an API take anything. */
const wantsPage = ({ headers }: IngressRequest): boolean =>
  /^text\/html\b/i.test(headers.accept ?? '')
