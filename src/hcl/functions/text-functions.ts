// Functions of texts. Positions count characters, not bytes.
import { Numeric } from '#hcl/values/numeric.ts'
import { joinBounded } from './bounded-text.ts'
import { formatText } from './format-text.ts'
import { HclArgumentError, hclFunction, textItems } from './function.ts'

export const TEXT_FUNCTIONS = [
  hclFunction({
    usage: 'upper(text)',
    help: 'The text in upper case',
    example: ['upper("eu-west")', '"EU-WEST"'],
    takes: ['text'],
    run: (text) => text.toUpperCase(),
  }),
  hclFunction({
    usage: 'lower(text)',
    help: 'The text in lower case',
    example: ['lower("API")', '"api"'],
    takes: ['text'],
    run: (text) => text.toLowerCase(),
  }),
  hclFunction({
    usage: 'trimspace(text)',
    help: 'The text without blanks and line ends at both ends',
    example: ['trimspace("  a b ")', '"a b"'],
    takes: ['text'],
    run: (text) => text.trim(),
  }),
  hclFunction({
    usage: 'trimprefix(text, prefix)',
    help: 'The text without a beginning, if it has it',
    example: ['trimprefix("v1.4", "v")', '"1.4"'],
    takes: ['text', 'text'],
    run: (text, prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : text),
  }),
  hclFunction({
    usage: 'trimsuffix(text, suffix)',
    help: 'The text without an end, if it has it',
    example: ['trimsuffix("main.ts", ".ts")', '"main"'],
    takes: ['text', 'text'],
    run: (text, suffix) =>
      suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text,
  }),
  hclFunction({
    usage: 'replace(text, part, other)',
    help: 'The text with every occurrence of a part replaced; the part is plain text',
    example: ['replace("a.b.c", ".", "-")', '"a-b-c"'],
    takes: ['text', 'text', 'text'],
    run: (text, part, other) => joinBounded(partsOf(text, part), other),
  }),
  hclFunction({
    usage: 'split(separator, text)',
    help: 'The parts of a text between separators',
    example: ['split(",", "a,b")', '["a", "b"]'],
    takes: ['text', 'text'],
    run: (separator, text) => partsOf(text, separator),
  }),
  hclFunction({
    usage: 'join(separator, list)',
    help: 'The texts of a list with a separator between them',
    example: ['join("/", ["a", 1])', '"a/1"'],
    takes: ['text', 'list'],
    run: (separator, list) => joinBounded(textItems(list), separator),
  }),
  hclFunction({
    usage: 'substr(text, offset, length)',
    help: 'A part of the text; a length of -1 goes to the end',
    example: ['substr("workload", 0, 4)', '"work"'],
    takes: ['text', 'integer', 'integer'],
    run: (text, offset, length) => {
      const letters = [...text]
      const start = offset < 0 ? Math.max(0, letters.length + offset) : offset
      return letters.slice(start, length < 0 ? undefined : start + length).join('')
    },
  }),
  hclFunction({
    usage: 'startswith(text, prefix)',
    help: 'Whether the text begins so',
    example: ['startswith("https://a", "https:")', 'true'],
    takes: ['text', 'text'],
    run: (text, prefix) => text.startsWith(prefix),
  }),
  hclFunction({
    usage: 'endswith(text, suffix)',
    help: 'Whether the text ends so',
    example: ['endswith("a.jpg", ".png")', 'false'],
    takes: ['text', 'text'],
    run: (text, suffix) => text.endsWith(suffix),
  }),
  hclFunction({
    usage: 'strcontains(text, part)',
    help: 'Whether the text has the part',
    example: ['strcontains("api-canary", "canary")', 'true'],
    takes: ['text', 'text'],
    run: (text, part) => text.includes(part),
  }),
  hclFunction({
    usage: 'format(pattern, values...)',
    help: 'The pattern with its verbs replaced: %s text, %d whole number, %f decimal, %q text in quotes, %v JSON, %% a percent sign; such as %5s, %-5s, %03d, %.2f',
    example: ['format("%s-%03d", "api", 7)', '"api-007"'],
    takes: ['text'],
    rest: 'any',
    run: (pattern, ...values) => formatText(pattern, values),
  }),
  hclFunction({
    usage: 'parseint(text, base)',
    help: 'The whole number of a text in a base from 2 to 36',
    example: ['parseint("ff", 16)', '255'],
    takes: ['text', 'integer'],
    run: (text, base) => integerOf(text, base),
  }),
]

function partsOf(text: string, separator: string): string[] {
  if (separator === '') throw new HclArgumentError('Expected a text that is not empty')
  return text.split(separator)
}

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'

function integerOf(text: string, base: number): Numeric {
  const [, sign, figures = ''] = /^(-?)([0-9a-z]{1,200})$/i.exec(text) ?? []
  const digits = [...figures.toLowerCase()].map((digit) => DIGITS.indexOf(digit))
  if (base < 2 || base > 36 || digits.length === 0 || digits.some((digit) => digit >= base))
    throw new HclArgumentError(`Expected a whole number in a base from 2 to 36, found "${text}"`)
  const value = digits.reduce((sum, digit) => sum * BigInt(base) + BigInt(digit), 0n)
  return Numeric.of(sign === '-' ? -value : value)
}
