// Writes the XML of replies.

const S3_NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

export type XmlValue = string | number | boolean | undefined | readonly (XmlNode | XmlText)[]

/** An element: name, content (undefined omits the element) and attributes as text. */
export type XmlNode = readonly [name: string, content: XmlValue, attributes?: string]

/** Elements that are text already. */
export class XmlText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A document of the S3 namespace. */
export const writeXml = (root: string, content: XmlValue): string =>
  `${DECLARATION}${elementText([root, content ?? '', `xmlns="${S3_NAMESPACE}"`])}`

/** A document without a namespace, as errors are. */
export const writePlainXml = (root: string, content: XmlValue): string =>
  `${DECLARATION}${elementText([root, content ?? ''])}`

export function elementText([name, content, attributes]: XmlNode): string {
  if (content === undefined) return ''
  const open = attributes === undefined ? name : `${name} ${attributes}`
  if (typeof content === 'string')
    return content === '' ? `<${open}></${name}>` : `<${open}>${escapeXml(content)}</${name}>`
  if (typeof content !== 'object') return `<${open}>${content}</${name}>`
  let inner = ''
  for (const node of content) inner += node instanceof XmlText ? node.text : elementText(node)
  return `<${open}>${inner}</${name}>`
}

// XML 1.0 cannot contain control characters. Like AWS we write references, also for \r, which parsers turn into
// . Clients avoid them with `encoding-type=url`.
const SPECIAL = /[&<>"'\u2028\ufffe\uffff]|[^\P{Cc}\t\n]/gu
const NAMED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

// Most text needs no escapes: testing first makes a page of 1,000 keys twice as fast.
const PLAIN = /^[ !#-%(-;=?-~]*$/

// Each ETag has quotes: five replacements of one character take a fifth of the time of SPECIAL.
const PRINTABLE = /^[ -~]*$/

/** Text for an element or an attribute. */
export function escapeXml(text: string): string {
  if (PLAIN.test(text)) return text
  if (!PRINTABLE.test(text))
    return text.replace(
      SPECIAL,
      (found) => NAMED[found] ?? `&#x${found.charCodeAt(0).toString(16)};`,
    )
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;')
}

/** Keys in lists that ask for `encoding-type=url`. */
export const urlEncoded = (text: string): string =>
  UNRESERVED.test(text) ? text : encodeReserved(text)

const UNRESERVED = /^[A-Za-z0-9._~/-]*$/

const encodeReserved = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%2F', '/')
    .replaceAll(/[!'()]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)

let second = Number.NaN
let secondText = ''

/** A time as listings print it. Most entries of a page were written within a few seconds. */
export function isoTime(timeMs: number): string {
  const begin = Math.floor(timeMs / 1000) * 1000
  if (begin !== second) {
    secondText = new Date(begin).toISOString().slice(0, -4)
    second = begin
  }
  return `${secondText}${String(timeMs - begin).padStart(3, '0')}Z`
}
