// Headers on their way through the ingress: neither side sees those of the other's connection, nor forges those of the service.
import type { IncomingHttpHeaders } from 'node:http'
import { HOP_BY_HOP } from '#base/hop-by-hop.ts'
import { isEncrypted, type IngressRequest } from './exchange.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { rulesOfKind } from './kinds.ts'

/** The ingress has said "100 Continue" itself, and says the others anew. */
const TAKEN = new Set([...HOP_BY_HOP, 'expect', 'cookie', 'host', 'x-request-id'])
/** Believed from proxies that the operator trusts. */
const FORWARDED = /^(?:forwarded|x-forwarded-.*|x-real-ip)$/
/** Headers of which code believes that the service, or a proxy, has set them. */
const NAMED_ALIKE = /^(?:forwarded|x-forwarded-.*|x-real-ip|x-svc-.*)$/
/** Headers of the service, and those that bind a client to an address that others have too. */
const OURS =
  /^(?:x-(?:ergon|energy|workload)-.*|x-(?:carbon-mg|receipt-id|routed-to|tier)|strict-transport-security|alt-svc|clear-site-data)$/
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
    if (TAKEN.has(asVariable) || named?.has(name) === true) continue
    if (FORWARDED.test(name) && !isTrusted) continue
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

/** The headers of an answer for the client. */
export function headersFrom(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  const named = connectionNames(headers.connection)
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || HOP_BY_HOP.has(name) || named?.has(name) === true) continue
    if (OURS.test(name)) continue
    kept[name] = name === 'set-cookie' ? ownCookies(value) : value
  }
  return kept
}

const ownCookies = (value: string | string[]): string[] =>
  [value].flat().filter((one) => !OWN_COOKIE.test(one))
