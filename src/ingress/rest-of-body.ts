// The rest of a body that its answer has not waited for.
import type { IngressRequest, IngressResponse } from './exchange.ts'
import { hasBody } from './instance-request.ts'

/** Most clients have read the answer by then; others are cut off. */
const REST_BYTES_MAX = 1_048_576

/** Calls back when an answer has gone out. A stream of HTTP/2 may stay open then: its client may still send. */
export function onceGone(
  request: IngressRequest,
  response: IngressResponse,
  gone: () => void,
): void {
  response.once('close', gone)
  if ('stream' in request) request.stream.once('finish', gone)
}

/** More of the body may come. */
export const isRestOpen = (request: IngressRequest): boolean =>
  !request.readableEnded && hasBody(request)

/** Throws away what comes of the body behind the answer, which has ended. */
export function dropRest(request: IngressRequest, response: IngressResponse): void {
  if (!isRestOpen(request)) return
  let bytes = 0
  const drop = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= REST_BYTES_MAX) return
    if ('stream' in request) request.stream.close()
    else request.socket.destroySoon()
  }
  onceGone(request, response, () => {
    if (request.listenerCount('data') === 0) request.on('data', drop).resume()
  })
}
