// The website configuration of a bucket (AWS, "Hosting a static website"). website-route.ts applies it to requests.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlFields, integerOf, optionalText, xmlText, wordOf } from '#s3/xml/fields.ts'
import { malformedXml, parseXml, type XmlElement } from '#s3/xml/read.ts'
import { writeXml, type XmlNode } from '#s3/xml/write.ts'

const RULES_MAX = 50
const PROTOCOLS = ['http', 'https'] as const
export type WebsiteScheme = (typeof PROTOCOLS)[number]

export type Redirect = {
  readonly host?: string
  readonly protocol?: WebsiteScheme
  readonly replacePrefix?: string
  readonly replaceKey?: string
  /** 301 when absent. */
  readonly status?: number
}
export type RoutingRule = {
  readonly prefix?: string
  /** The status of the error that the rule matches. */
  readonly errorStatus?: number
  readonly redirect: Redirect
}
export type Website =
  | { readonly kind: 'redirect'; readonly host: string; readonly protocol?: WebsiteScheme }
  | {
      readonly kind: 'pages'
      /** The page of a folder: appended to keys that are empty or end with `/`. */
      readonly index: string
      readonly errorKey?: string
      readonly rules: readonly RoutingRule[]
    }

/** Reads a `WebsiteConfiguration`. Throws MalformedXML, InvalidArgument, InvalidRequest. */
export function parseWebsite(body: Buffer): Website {
  const found = xmlFields(parseXml(body, 'WebsiteConfiguration'), {
    RedirectAllRequestsTo: 'optional',
    IndexDocument: 'optional',
    ErrorDocument: 'optional',
    RoutingRules: 'optional',
  })
  const { RedirectAllRequestsTo: all, IndexDocument, ErrorDocument, RoutingRules } = found
  if (all !== undefined) {
    if (IndexDocument !== undefined || ErrorDocument !== undefined || RoutingRules !== undefined)
      throw argument(
        'RedirectAllRequestsTo cannot be provided in conjunction with other properties',
      )
    const { HostName, Protocol } = xmlFields(all, { HostName: 'one', Protocol: 'optional' })
    return {
      kind: 'redirect',
      host: host(HostName),
      ...(Protocol === undefined ? {} : { protocol: wordOf(Protocol, PROTOCOLS) }),
    }
  }
  if (IndexDocument === undefined)
    throw argument(
      'A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty',
    )
  const index = xmlText(xmlFields(IndexDocument, { Suffix: 'one' }).Suffix)
  if (index === '' || index.includes('/'))
    throw argument('The IndexDocument Suffix is not well formed')
  const errorKey = ErrorDocument && xmlText(xmlFields(ErrorDocument, { Key: 'one' }).Key)
  if (errorKey === '') throw argument('The ErrorDocument Key is not well formed')
  return {
    kind: 'pages',
    index,
    ...(errorKey === undefined ? {} : { errorKey }),
    rules: RoutingRules === undefined ? [] : parseRules(RoutingRules),
  }
}

function parseRules(element: XmlElement): RoutingRule[] {
  const { RoutingRule } = xmlFields(element, { RoutingRule: 'many' })
  if (RoutingRule.length > RULES_MAX)
    throw storageFault('InvalidRequest', `The number of routing rules is over ${RULES_MAX}`)
  return RoutingRule.map(parseRule)
}

function parseRule(element: XmlElement): RoutingRule {
  const { Condition, Redirect } = xmlFields(element, { Condition: 'optional', Redirect: 'one' })
  const redirect = parseRedirect(Redirect)
  if (Condition === undefined) return { redirect }
  const { KeyPrefixEquals, HttpErrorCodeReturnedEquals: status } = xmlFields(Condition, {
    KeyPrefixEquals: 'optional',
    HttpErrorCodeReturnedEquals: 'optional',
  })
  const prefix = optionalText(KeyPrefixEquals)
  if (prefix === undefined && status === undefined) throw malformedXml('A Condition is empty')
  return {
    ...(prefix === undefined ? {} : { prefix }),
    ...(status === undefined ? {} : { errorStatus: integerOf(status, 400, 599) }),
    redirect,
  }
}

function parseRedirect(element: XmlElement): Redirect {
  const { HostName, Protocol, ReplaceKeyPrefixWith, ReplaceKeyWith, HttpRedirectCode } = xmlFields(
    element,
    {
      HostName: 'optional',
      Protocol: 'optional',
      ReplaceKeyPrefixWith: 'optional',
      ReplaceKeyWith: 'optional',
      HttpRedirectCode: 'optional',
    },
  )
  if (element.children.length === 0) throw malformedXml('A Redirect is empty')
  const replacePrefix = optionalText(ReplaceKeyPrefixWith)
  const replaceKey = optionalText(ReplaceKeyWith)
  if (replacePrefix !== undefined && replaceKey !== undefined)
    throw storageFault(
      'InvalidRequest',
      'You can only define ReplaceKeyPrefix or ReplaceKey but not both.',
    )
  return {
    ...(HostName === undefined ? {} : { host: host(HostName) }),
    ...(Protocol === undefined ? {} : { protocol: wordOf(Protocol, PROTOCOLS) }),
    ...(replacePrefix === undefined ? {} : { replacePrefix }),
    ...(replaceKey === undefined ? {} : { replaceKey }),
    ...(HttpRedirectCode === undefined ? {} : { status: redirectStatus(HttpRedirectCode) }),
  }
}

function redirectStatus(element: XmlElement): number {
  const status = integerOf(element)
  if (![301, 302, 303, 304, 305, 307, 308].includes(status))
    throw storageFault(
      'InvalidRequest',
      `The provided HTTP redirect code (${status}) is not valid. Valid codes are 3XX except 300.`,
    )
  return status
}

/** A host name for a Location: no path, no spaces, no line breaks. */
function host(element: XmlElement): string {
  const name = xmlText(element).trim()
  if (!/^[A-Za-z0-9.-]+(:\d{1,5})?$/.test(name)) throw argument(`Invalid HostName: ${name}`)
  return name
}

const argument = (message: string) => storageFault('InvalidArgument', message)

export function printWebsite(website: Website): string {
  if (website.kind === 'redirect')
    return writeXml('WebsiteConfiguration', [
      [
        'RedirectAllRequestsTo',
        [
          ['HostName', website.host],
          ['Protocol', website.protocol],
        ],
      ],
    ])
  const { index, errorKey, rules } = website
  return writeXml('WebsiteConfiguration', [
    ['IndexDocument', [['Suffix', index]]],
    ['ErrorDocument', errorKey === undefined ? undefined : [['Key', errorKey]]],
    ['RoutingRules', rules.length === 0 ? undefined : rules.map(ruleNode)],
  ])
}

const ruleNode = ({ prefix, errorStatus, redirect }: RoutingRule): XmlNode => [
  'RoutingRule',
  [
    [
      'Condition',
      prefix === undefined && errorStatus === undefined
        ? undefined
        : [
            ['KeyPrefixEquals', prefix],
            ['HttpErrorCodeReturnedEquals', errorStatus],
          ],
    ],
    [
      'Redirect',
      [
        ['Protocol', redirect.protocol],
        ['HostName', redirect.host],
        ['ReplaceKeyPrefixWith', redirect.replacePrefix],
        ['ReplaceKeyWith', redirect.replaceKey],
        ['HttpRedirectCode', redirect.status],
      ],
    ],
  ],
]
