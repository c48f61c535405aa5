// Which requests are calls of gRPC. Its servers speak HTTP/2 alone, so a call says by its type how it is to be passed on.
import type { Http2ServerRequest } from 'node:http2'
import { isHttp2, type IngressRequest } from '#ingress/exchange.ts'

/** Excludes gRPC-Web: that protocol has its own media types and also runs over HTTP/1.1. */
const TYPE = /^application\/grpc(?:$|[+;])/i

export const isGrpc = (request: IngressRequest): request is Http2ServerRequest =>
  isHttp2(request) && TYPE.test(request.headers['content-type'] ?? '')
