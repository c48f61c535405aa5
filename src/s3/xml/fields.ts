// Reads the children of an element by a small schema: how often each child may occur. Unknown, missing and repeated
// children are MalformedXML.
import { malformedXml, type XmlElement } from './read.ts'

type Often = 'one' | 'optional' | 'many'
type ElementsBy<O extends Often> = O extends 'one'
  ? XmlElement
  : O extends 'optional'
    ? XmlElement | undefined
    : readonly XmlElement[]

/** The children of an element by name. Throws MalformedXML. */
export function xmlFields<const S extends Readonly<Record<string, Often>>>(
  element: XmlElement,
  schema: S,
): { readonly [Name in keyof S]: ElementsBy<S[Name]> } {
  if (element.text.trim() !== '') throw malformedXml(`${element.name} holds text`)
  const groups = new Map<string, XmlElement[]>()
  for (const child of element.children) {
    if (!Object.hasOwn(schema, child.name))
      throw malformedXml(`${child.name} is not known in ${element.name}`)
    const group = groups.get(child.name)
    if (group === undefined) groups.set(child.name, [child])
    else group.push(child)
  }
  const fields: Record<string, unknown> = {}
  for (const [name, often] of Object.entries(schema)) {
    const group = groups.get(name) ?? []
    if (often === 'many') fields[name] = group
    else if (group.length > 1) throw malformedXml(`${name} comes more than once in ${element.name}`)
    else if (often === 'one' && group.length === 0)
      throw malformedXml(`${name} is missing in ${element.name}`)
    else fields[name] = group[0]
  }
  return fields as { readonly [Name in keyof S]: ElementsBy<S[Name]> }
}

/** The text of a leaf. Throws MalformedXML. */
export function xmlText(element: XmlElement): string {
  if (element.children.length > 0) throw malformedXml(`${element.name} holds elements`)
  return element.text
}

/** The text of an optional leaf. */
export const optionalText = (element: XmlElement | undefined): string | undefined =>
  element === undefined ? undefined : xmlText(element)

/** One of the words. Throws MalformedXML. */
export function wordOf<const W extends string>(element: XmlElement, words: readonly W[]): W {
  const text = xmlText(element).trim()
  const found = words.find((word) => word === text)
  if (found === undefined) throw malformedXml(`${element.name} is not one of ${words.join(', ')}`)
  return found
}

/** true or false, in any case, as AWS accepts them. Throws MalformedXML. */
export function xmlBoolean(element: XmlElement): boolean {
  const text = xmlText(element).trim().toLowerCase()
  if (text !== 'true' && text !== 'false')
    throw malformedXml(`${element.name} is not true or false`)
  return text === 'true'
}

/** A whole number. Throws MalformedXML. */
export function integerOf(element: XmlElement, min = 0, max = Number.MAX_SAFE_INTEGER): number {
  const text = xmlText(element).trim()
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max))
    throw malformedXml(`${element.name} is not a whole number from ${min} to ${max}`)
  return value
}

/** A time of ISO 8601 or RFC 1123 in milliseconds. Throws MalformedXML. */
export function timeOf(element: XmlElement): number {
  const timeMs = Date.parse(xmlText(element).trim())
  if (Number.isNaN(timeMs)) throw malformedXml(`${element.name} is not a time`)
  return timeMs
}
