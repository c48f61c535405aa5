// The references of XML: the five named entities and characters by number. There are no other entities.
import { storageFault } from '#contract/storage/storage-errors.ts'

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}
const REFERENCE = /&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-z]{2,4}));|&/g

/** Text with its references decoded, once. Throws MalformedXML. */
export function decodeReferences(text: string): string {
  if (text.includes('\0')) throw wrong('There is a NUL')
  if (!text.includes('&')) return text
  return text.replaceAll(REFERENCE, (_, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined) return character(Number.parseInt(hex, 16))
    if (decimal !== undefined) return character(Number(decimal))
    const known = NAMED[name ?? '']
    if (known === undefined) throw wrong('There is an unknown entity')
    return known
  })
}

function character(point: number): string {
  const isSurrogate = point >= 0xd800 && point <= 0xdfff
  if (point === 0 || point > 0x10ffff || isSurrogate)
    throw wrong('There is a reference to no character')
  return String.fromCodePoint(point)
}

const wrong = (reason: string) => storageFault('MalformedXML', undefined, { Reason: reason })
