// Functions between values and their written forms.
import { createHash } from 'node:crypto'
import { asFlag, asNumber, asText, kindOf, type HclValue } from '#hcl/values/value.ts'
import { HclArgumentError, hclFunction } from './function.ts'
import { jsonOf, valueOfJson } from './json-value.ts'

const converted = <T extends HclValue>(
  value: HclValue,
  made: T | undefined,
  expected: string,
): T | null => {
  if (value === null) return null
  if (made === undefined) throw new HclArgumentError(`Expected ${expected}, found ${kindOf(value)}`)
  return made
}

export const ENCODING_FUNCTIONS = [
  hclFunction({
    usage: 'jsonencode(value)',
    help: 'The value as JSON',
    example: ['jsonencode({ a = [1, true] })', '"{\\"a\\":[1,true]}"'],
    takes: ['any'],
    run: (value) => jsonOf(value),
  }),
  hclFunction({
    usage: 'jsondecode(text)',
    help: 'The value of JSON',
    example: ['jsondecode("[1, null]")', '[1, null]'],
    takes: ['text'],
    run: (text) => valueOfJson(text),
  }),
  hclFunction({
    usage: 'base64encode(text)',
    help: 'The UTF-8 bytes of the text in base64',
    example: ['base64encode("joule")', '"am91bGU="'],
    takes: ['text'],
    run: (text) => Buffer.from(text, 'utf8').toString('base64'),
  }),
  hclFunction({
    usage: 'base64decode(text)',
    help: 'The text whose UTF-8 bytes are in base64',
    example: ['base64decode("am91bGU=")', '"joule"'],
    takes: ['text'],
    run: (text) => {
      const bytes = Buffer.from(text, 'base64')
      if (bytes.toString('base64') !== text)
        throw new HclArgumentError('Expected base64, found other characters')
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
      } catch {
        throw new HclArgumentError('Expected UTF-8 in base64, found other bytes')
      }
    },
  }),
  hclFunction({
    usage: 'urlencode(text)',
    help: 'The text as a part of an address',
    example: ['urlencode("a b/c")', '"a%20b%2Fc"'],
    takes: ['text'],
    run: (text) => encodeURIComponent(text.toWellFormed()),
  }),
  hclFunction({
    usage: 'sha256(text)',
    help: 'The SHA-256 of the UTF-8 bytes, in hexadecimal digits',
    example: ['sha256("")', '"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"'],
    takes: ['text'],
    run: (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
  }),
  hclFunction({
    usage: 'tostring(value)',
    help: 'A number, or true and false, as a text',
    example: ['tostring(1.50)', '"1.5"'],
    takes: ['any'],
    run: (value) => converted(value, asText(value), 'a text, a number or true and false'),
  }),
  hclFunction({
    usage: 'tonumber(value)',
    help: 'The number that a text has',
    example: ['tonumber("1e3")', '1000'],
    takes: ['any'],
    run: (value) => converted(value, asNumber(value), 'a number'),
  }),
  hclFunction({
    usage: 'tobool(value)',
    help: 'True or false of the texts "true" and "false"',
    example: ['tobool("true")', 'true'],
    takes: ['any'],
    run: (value) => converted(value, asFlag(value), 'true or false'),
  }),
]
