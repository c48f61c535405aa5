// The CORS configuration of a bucket, and the headers that it adds to preflights and replies (Fetch standard, "CORS
// protocol"; AWS, "Using cross-origin resource sharing").
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlFields, integerOf, optionalText, xmlText } from '#s3/xml/fields.ts'
import { malformedXml, parseXml, type XmlElement } from '#s3/xml/read.ts'
import { writeXml, type XmlNode } from '#s3/xml/write.ts'

const RULES_MAX = 100
const ID_MAX = 255
/** The most header names of a preflight: each is compared with up to 64 KiB of patterns. */
const ASKED_MAX = 100
const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD']

export type CorsRule = {
  readonly id?: string
  readonly origins: readonly string[]
  readonly methods: readonly string[]
  readonly headers: readonly string[]
  readonly exposed: readonly string[]
  readonly maxAgeS?: number
}
export type Cors = { readonly rules: readonly CorsRule[] }

/** The CORS headers of a preflight or of a request. */
export type CorsRequest = {
  readonly origin: string | undefined
  /** The method of the request, or `Access-Control-Request-Method`. */
  readonly method: string | undefined
  /** The value of `Access-Control-Request-Headers`. */
  readonly headers?: string | undefined
}

/** Reads a `CORSConfiguration`. Throws MalformedXML, InvalidRequest. */
export function parseCors(body: Buffer): Cors {
  const { CORSRule } = xmlFields(parseXml(body, 'CORSConfiguration'), { CORSRule: 'many' })
  const rules = CORSRule.map(parseRule)
  if (rules.length === 0 || rules.length > RULES_MAX)
    throw malformedXml(`There are not 1 to ${RULES_MAX} rules`)
  return { rules }
}

const RULE = {
  ID: 'optional',
  AllowedOrigin: 'many',
  AllowedMethod: 'many',
  AllowedHeader: 'many',
  ExposeHeader: 'many',
  MaxAgeSeconds: 'optional',
} as const

function parseRule(element: XmlElement): CorsRule {
  const rule = xmlFields(element, RULE)
  const id = optionalText(rule.ID)
  const origins = rule.AllowedOrigin.map(xmlText)
  const methods = rule.AllowedMethod.map(xmlText)
  const headers = rule.AllowedHeader.map(xmlText)
  const exposed = rule.ExposeHeader.map(xmlText)
  if (origins.length === 0 || methods.length === 0 || (id ?? '').length > ID_MAX)
    throw malformedXml('A rule has no origin, no method or a long ID')
  for (const method of methods)
    if (!METHODS.includes(method))
      throw invalid(`Found unsupported HTTP method in CORS config. Unsupported method is ${method}`)
  for (const [name, list] of [
    ['AllowedOrigin', origins],
    ['AllowedHeader', headers],
  ] as const)
    for (const value of list)
      if (value.split('*').length > 2)
        throw invalid(`${name} "${value}" can not have more than one wildcard.`)
  for (const value of exposed)
    if (!/^[\w!#$%&'.^`|~+-]+$/.test(value))
      throw invalid(`ExposeHeader "${value}" contains wildcard or is no header name.`)
  return {
    ...(id === undefined ? {} : { id }),
    origins,
    methods,
    headers,
    exposed,
    ...(rule.MaxAgeSeconds === undefined ? {} : { maxAgeS: integerOf(rule.MaxAgeSeconds) }),
  }
}

const invalid = (message: string) => storageFault('InvalidRequest', message)

export const printCors = (cors: Cors): string =>
  writeXml(
    'CORSConfiguration',
    cors.rules.map((rule): XmlNode => [
      'CORSRule',
      [
        ['ID', rule.id],
        ...rule.headers.map((value): XmlNode => ['AllowedHeader', value]),
        ...rule.methods.map((value): XmlNode => ['AllowedMethod', value]),
        ...rule.origins.map((value): XmlNode => ['AllowedOrigin', value]),
        ...rule.exposed.map((value): XmlNode => ['ExposeHeader', value]),
        ['MaxAgeSeconds', rule.maxAgeS],
      ],
    ]),
  )

/**
 * The headers of the reply to a preflight. Throws BadRequest for an incomplete preflight, AccessForbidden without a
 * matching rule.
 */
export function preflightHeaders(
  cors: Cors | undefined,
  request: CorsRequest,
): Record<string, string> {
  const { origin, method } = request
  if (origin === undefined)
    throw storageFault('BadRequest', 'Insufficient information. Origin request header needed.')
  if (method === undefined || !METHODS.includes(method))
    throw storageFault('BadRequest', `Invalid Access-Control-Request-Method: ${method ?? 'null'}`)
  if (cors === undefined)
    throw storageFault('AccessForbidden', 'CORSResponse: CORS is not enabled for this bucket.')
  const asked = askedHeaders(request)
  const rule =
    asked.length > ASKED_MAX
      ? undefined
      : cors.rules.find((one) => fits(one, origin, method) && allowsHeaders(one, asked))
  if (rule === undefined)
    throw storageFault('AccessForbidden', 'CORSResponse: This CORS request is not allowed.')
  return {
    ...headersOf(rule, origin),
    ...(asked.length === 0 ? {} : { 'access-control-allow-headers': asked.join(', ') }),
  }
}

/** The headers of the reply to a request from another origin; none without a matching rule. */
export function corsHeaders(cors: Cors | undefined, request: CorsRequest): Record<string, string> {
  const { origin, method } = request
  if (cors === undefined || origin === undefined || method === undefined) return {}
  const rule = cors.rules.find((one) => fits(one, origin, method))
  return rule === undefined ? {} : headersOf(rule, origin)
}

const fits = (rule: CorsRule, origin: string, method: string) =>
  rule.methods.includes(method) && rule.origins.some((pattern) => matchesStar(pattern, origin))

/** Each name once, in lower case. */
const askedHeaders = ({ headers = '' }: CorsRequest): string[] => {
  const names = headers.split(',').map((name) => name.trim().toLowerCase())
  return [...new Set(names)].filter((name) => name !== '')
}

/** Patterns are parsed once: parsing them for each of 7,000 names took 0.8 s that nobody pays for. */
function allowsHeaders(rule: CorsRule, names: readonly string[]): boolean {
  if (names.length === 0) return true
  const patterns = rule.headers.map((pattern) => starPattern(pattern.toLowerCase()))
  return names.every((name) => patterns.some((matches) => matches(name)))
}

const matchesStar = (pattern: string, value: string): boolean => starPattern(pattern)(value)

/** Patterns have at most one `*`; no other character is special. */
function starPattern(pattern: string): (value: string) => boolean {
  const star = pattern.indexOf('*')
  if (star < 0) return (value) => pattern === value
  const [start, end] = [pattern.slice(0, star), pattern.slice(star + 1)]
  return (value) =>
    value.length >= pattern.length - 1 && value.startsWith(start) && value.endsWith(end)
}

function headersOf(rule: CorsRule, origin: string): Record<string, string> {
  // With `*` no credentials are allowed, so everyone may get the same reply.
  const everyone = rule.origins.find((pattern) => matchesStar(pattern, origin)) === '*'
  return {
    'access-control-allow-origin': everyone ? '*' : origin,
    'access-control-allow-methods': rule.methods.join(', '),
    ...(rule.exposed.length === 0
      ? {}
      : { 'access-control-expose-headers': rule.exposed.join(', ') }),
    ...(rule.maxAgeS === undefined ? {} : { 'access-control-max-age': String(rule.maxAgeS) }),
    ...(everyone ? {} : { 'access-control-allow-credentials': 'true' }),
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  }
}
