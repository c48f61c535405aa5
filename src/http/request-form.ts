// The form of a request, checked before its content. Node's parser refuses most hostile forms by itself.
// The parser accepts the forms below, which proxies in front of a gateway may read differently (request smuggling),
// so they are refused here.
import type { IncomingMessage } from 'node:http'
import { fault } from '#contract/errors.ts'
import { TARGET_BYTES_MAX } from './limits.ts'

/** Pages that are answered on any Host, because load balancers ask by address, and in HTTP/1.0 without one. */
export const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i
const PORT_MAX = 65_535
const TARGET = /^\/[\x21-\x7e]*$/

/** Of HTTP/2 too, where `:authority` has the place of Host. */
export type RequestForm = Pick<IncomingMessage, 'url' | 'httpVersion' | 'rawHeaders'>

/** Throws malformed_request, uri_too_long. */
export function checkForm(request: RequestForm): void {
  const target = request.url ?? ''
  if (target.length > TARGET_BYTES_MAX)
    throw fault('uri_too_long', `Could not read the request: its target has ${target.length} bytes`)
  // Absolute-form names a host twice; a proxy and we could believe different ones.
  if (!TARGET.test(target)) throw malformed('the target is not a path of printable ASCII')
  const hosts = valuesOf(request, request.httpVersion === '2.0' ? ':authority' : 'host')
  // RFC 9112 §3.2 asks for a Host in HTTP/1.1 alone; the checks of many a load balancer are 1.0.
  const isCheck = request.httpVersion === '1.0' && HEALTH_PATHS.has(target.split('?', 1)[0] ?? '')
  if (hosts.length !== 1 && !(isCheck && hosts.length === 0))
    throw malformed(`${hosts.length} Host headers`)
  if (hosts.length === 1 && !isHost(hosts[0] ?? ''))
    throw malformed('the Host header is not a host')
  // Node keeps the first of two, a proxy may keep the last.
  const credentials = valuesOf(request, 'authorization')
  if (credentials.length > 1) throw malformed(`${credentials.length} Authorization headers`)
  const encodings = valuesOf(request, 'transfer-encoding')
  if (encodings.length > 0) {
    if (request.httpVersion === '1.0') throw malformed('Transfer-Encoding in HTTP/1.0')
    if (encodings.length > 1 || encodings[0]?.toLowerCase() !== 'chunked')
      throw malformed('a Transfer-Encoding that is not "chunked"')
    if (valuesOf(request, 'content-length').length > 0)
      throw malformed('both Transfer-Encoding and Content-Length')
  }
}

function isHost(text: string): boolean {
  const parts = HOST.exec(text)
  return parts !== null && Number(parts[2]?.slice(1) ?? 0) <= PORT_MAX
}

/** RFC 9110 §10.1.1 leaves it to the server. Throws expectation_failed. */
export function checkExpectation({ headers: { expect } }: IncomingMessage): void {
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw fault(
      'expectation_failed',
      'Could not meet the expectation: only "100-continue" is known',
    )
}

/** The host name of a request, lower case, without port. */
export const hostOf = (request: IncomingMessage): string =>
  HOST.exec(request.headers.host ?? '')?.[1]?.toLowerCase() ?? ''

function valuesOf(request: Pick<RequestForm, 'rawHeaders'>, name: string): string[] {
  const values: string[] = []
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
    if (isNamed(request.rawHeaders[i] ?? '', name)) values.push(request.rawHeaders[i + 1] ?? '')
  return values
}

/** Lengths first: most names differ there, and lower case costs a string. */
const isNamed = (raw: string, name: string) =>
  raw.length === name.length && raw.toLowerCase() === name

export const malformed = (detail: string) =>
  fault('malformed_request', `Could not read the request: ${detail}`)
