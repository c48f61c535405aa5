// Reads the XML of request bodies, strictly: no DOCTYPE, no entities but the five of XML, and limits on bytes, tags
// and depth. Own code, because parsing blocks the event loop: for the 10,000 parts that S3 allows, fast-xml-parser
// took seven times as long, 0.5 s on a busy machine. That parser is the oracle of the tests.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { decodeReferences } from './references.ts'

/** Enough for 1,000 keys of DeleteObjects, 1,000 lifecycle rules or 10,000 parts. */
export const XML_BYTES_MAX = 2 * 1024 * 1024
/** For all other documents: 100 notification rules with long filters are the largest. */
export const DOCUMENT_BYTES_MAX = 512 * 1024
const DEPTH_MAX = 12
const ELEMENTS_MAX = 60_000

export type XmlElement = {
  /** The name without its namespace prefix. */
  readonly name: string
  /** Text and CDATA of a leaf, references decoded, spaces kept; '' where there are children. */
  readonly text: string
  readonly children: readonly XmlElement[]
  readonly attributes: Readonly<Record<string, string>>
}

/** MalformedXML. `details` names the fault, because AWS has one message for all. */
export const malformedXml = (reason: string) =>
  storageFault('MalformedXML', undefined, { Reason: reason })

/** The root element of a document. Throws MalformedXML, MaxMessageLengthExceeded. */
export function parseXml(bytes: Buffer, rootName: string): XmlElement {
  if (bytes.length > XML_BYTES_MAX)
    throw storageFault('MaxMessageLengthExceeded', undefined, {
      MaxMessageLengthBytes: XML_BYTES_MAX,
    })
  const root = scan(decode(bytes))
  if (root.name !== rootName) throw malformedXml(`The root element is not ${rootName}`)
  return root
}

function decode(bytes: Buffer): string {
  try {
    // XML 1.0 §2.11: line ends are one \n.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll(/\r\n?/g, '\n')
  } catch {
    throw malformedXml('The body is not UTF-8')
  }
}

type OpenElement = {
  readonly name: string
  readonly rawName: string
  text: string
  readonly children: XmlElement[]
  readonly attributes: Readonly<Record<string, string>>
}

function scan(document: string): XmlElement {
  // The document is the bottom of the stack; its one child is the root.
  const bottom: OpenElement = { name: '', rawName: '', text: '', children: [], attributes: {} }
  const stack: OpenElement[] = []
  let top = bottom
  let elements = 0
  let at = 0
  while (at < document.length) {
    const less = document.indexOf('<', at)
    const stop = less < 0 ? document.length : less
    if (stop > at) top.text += decodeReferences(document.slice(at, stop))
    if (less < 0) break
    if (document.startsWith('</', less)) {
      at = after(document, '>', less)
      if (document.slice(less + 2, at - 1).trimEnd() !== top.rawName || top === bottom)
        throw malformedXml('An end tag has no start')
      const closed = top
      top = stack.pop() ?? bottom
      top.children.push(close(closed))
    } else if (document.startsWith('<![CDATA[', less)) {
      at = after(document, ']]>', less)
      if (top === bottom) throw malformedXml('There is text outside of elements')
      top.text += document.slice(less + 9, at - 3)
    } else if (document.startsWith('<!--', less)) at = after(document, '-->', less + 4)
    else if (document.startsWith('<?', less)) at = after(document, '?>', less)
    else {
      const tag = startTag(document, less)
      at = tag.next
      if (++elements > ELEMENTS_MAX) throw malformedXml('There are too many elements')
      if (tag.isEmpty) top.children.push(close(tag.open))
      else {
        if (stack.length >= DEPTH_MAX) throw malformedXml('Elements are nested too deep')
        stack.push(top)
        top = tag.open
      }
    }
  }
  if (top !== bottom) throw malformedXml('An element has no end tag')
  const [root] = close(bottom).children
  if (root === undefined || bottom.children.length > 1)
    throw malformedXml('There is no single root element')
  return root
}

function after(document: string, mark: string, from: number): number {
  const found = document.indexOf(mark, from)
  if (found < 0) throw malformedXml(`There is no ${mark}`)
  return found + mark.length
}

function close({ name, text, children, attributes }: OpenElement): XmlElement {
  if (children.length === 0 && name !== '') return { name, text, children, attributes }
  if (text.trim() !== '') throw malformedXml('There is text between elements')
  return { name, text: '', children, attributes }
}

const START =
  /<([A-Za-z_][\w.:-]*)((?:\s+[A-Za-z_][\w.:-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const ATTRIBUTE = /([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

// A DOCTYPE fails here like any malformed tag.
function startTag(
  document: string,
  at: number,
): { open: OpenElement; next: number; isEmpty: boolean } {
  START.lastIndex = at
  const found = START.exec(document)
  if (found === null) throw malformedXml('There is a tag that is not well-formed')
  const [all, rawName = '', written = '', slash] = found
  const attributes: Record<string, string> = {}
  if (written !== '')
    for (const [, name = '', double, single = ''] of written.matchAll(ATTRIBUTE)) {
      const local = localName(name)
      if (Object.hasOwn(attributes, local) && !name.startsWith('xmlns'))
        throw malformedXml('An attribute comes twice')
      attributes[local] = decodeReferences(double ?? single)
    }
  const open = { name: localName(rawName), rawName, text: '', children: [], attributes }
  return { open, next: at + all.length, isEmpty: slash === '/' }
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
