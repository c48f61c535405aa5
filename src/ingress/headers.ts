// Headers on their way through the ingress: neither side sees those of the other's connection, nor forges those of the service.
import { HOP_BY_HOP } from '#base/hop-by-hop.ts'
import { isEncrypted, type IngressRequest, type IngressResponse } from './exchange.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import type { HttpHead } from '#http-client/heads.ts'
import { rulesOfKind } from './kinds.ts'

/** The ingress has said "100 Continue" itself, and writes the others anew: the writer of the body writes its length. */
const TAKEN = new Set([
  ...HOP_BY_HOP,
  'content-length',
  'cookie',
  'expect',
  'host',
  'transfer-encoding',
  'x-request-id',
])
/** Believed from proxies that the operator trusts. */
const FORWARDED = /^(?:forwarded|x-forwarded-.*|x-real-ip)$/
/** Headers of which code believes that the service, or a proxy, has set them. */
const NAMED_ALIKE = /^(?:forwarded|x-forwarded-.*|x-real-ip|x-svc-.*)$/
/** Headers of the service, and those that bind a client to an address that others have too. */
const OURS =
  /^(?:x-(?:ergon|energy|workload)-.*|x-(?:carbon-mg|receipt-id|request-id|routed-to|tier)|strict-transport-security|alt-svc|clear-site-data)$/
const OWN_COOKIE = /^(?:__Host-)?ergon_/i

/** The headers for an instance, name and value in turn. */
export function headersTo(request: IngressRequest, given: ForwardedRequest): string[] {
  const { rawHeaders, headers, socket } = request
  const sent: string[] = []
  const named = connectionNames(headers.connection)
  const from = socket.remoteAddress ?? ''
  const isTrusted = given.trusts(from)
  let before = ''
  let prefix = ''
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    // Code that reads headers as variables (CGI) takes both for the same.
    const asVariable = name.replaceAll('_', '-')
    if (name.startsWith(':') || asVariable.startsWith('x-ergon-')) continue
    if (TAKEN.has(asVariable)) continue
    // A client may not take away what a trusted proxy has added.
    if (FORWARDED.test(name) ? !isTrusted : named?.has(name) === true) continue
    if (name !== asVariable && NAMED_ALIKE.test(asVariable)) continue
    const value = rawHeaders[i + 1] ?? ''
    if (name === 'x-forwarded-for') before += `${value}, `
    else if (name === 'x-forwarded-prefix') prefix += value
    else sent.push(name, value)
  }
  const { cookie } = headers
  const cookies = cookie === undefined ? '' : withoutOurs(cookie)
  if (cookies !== '') sent.push('cookie', cookies)
  sent.push('host', given.host, 'x-forwarded-for', before + from)
  if (!isTrusted || headers['x-forwarded-proto'] === undefined)
    sent.push('x-forwarded-proto', isEncrypted(request) ? 'https' : 'http')
  sent.push('x-request-id', given.requestId)
  prefix += given.prefix
  if (prefix !== '') sent.push('x-forwarded-prefix', prefix)
  if (rulesOfKind(given.kind).hasOurRuntime)
    sent.push(
      'x-ergon-request-id',
      given.requestId,
      'x-ergon-url',
      given.url,
      'x-ergon-tariff',
      String(given.tariff?.njPerCpuS ?? 0n),
    )
  return sent
}

/** Headers that Connection names are those of the connection too (RFC 9110, 7.6.1). */
const connectionNames = (connection: string | undefined): ReadonlySet<string> | undefined =>
  connection === undefined || /^(?:keep-alive|close)$/i.test(connection)
    ? undefined
    : new Set(connection.toLowerCase().split(/\s*,\s*/))

/** The portal's cookies are nobody else's. */
const withoutOurs = (cookie: string): string =>
  /ergon_/i.test(cookie)
    ? cookie
        .split(/; */)
        .filter((one) => !OWN_COOKIE.test(one))
        .join('; ')
    : cookie

/** No body follows them, so a length would be wrong (RFC 9110, 8.6 and 15.3.6). */
const UNSIZED = new Set([101, 204, 205])

/** The headers of an answer for the client, name and value in turn; the names are in lower case. */
export function headersFrom({ status, headers }: Pick<HttpHead, 'status' | 'headers'>): string[] {
  const kept: string[] = []
  const listed = headers.filter((_, at) => headers[at - 1] === 'connection' && at % 2 === 1)
  const named = connectionNames(listed.length === 0 ? undefined : listed.join())
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const value = headers[i + 1] ?? ''
    if (HOP_BY_HOP.has(name) || OURS.test(name)) continue
    if (name === 'content-length' && UNSIZED.has(status)) continue
    if (name !== 'content-length' && named?.has(name) === true) continue
    if (name !== 'set-cookie' || !OWN_COOKIE.test(value)) kept.push(name, value)
  }
  return kept
}

export function addHeaders(headers: string[], more: Readonly<Record<string, string>>): void {
  for (const name in more) headers.push(name, more[name] ?? '')
}

/** The headers by name. A repeated name has a list of its values. */
export function recordOf(headers: readonly string[]): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = Object.create(null)
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2)
    const before = record[name]
    record[name] = before === undefined ? value : [before, value].flat()
  }
  return record
}

/** Throws for headers that Node does not write. */
export function writeHead(response: IngressResponse, status: number, headers: string[]): void {
  response.writeHead(
    status,
    response.req.httpVersion === '2.0' ? singles(recordOf(headers)) : headers,
  )
}

/** Of several, Node takes the first one, as it does in heads of HTTP/1.1. */
const FIRST_ALONE = new Set([
  'age',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
])

/** One value for each name, as Node refuses several of some in HTTP/2; but cookies, which cannot be joined. */
function singles(headers: Record<string, string | string[]>): Record<string, string | string[]> {
  for (const name in headers) {
    const values = headers[name]
    if (!Array.isArray(values) || name === 'set-cookie') continue
    headers[name] = FIRST_ALONE.has(name) ? (values[0] ?? '') : values.join(', ')
  }
  return headers
}
