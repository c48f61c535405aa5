// Random documents that follow the grammar, and documents with random mistakes.
import fc from 'fast-check'

const NAMES = [
  'a',
  'b-c',
  'x1',
  'ümlaut',
  '_u',
  'var',
  'local',
  'format',
  'length',
  'upper',
  'for1',
]
const name = fc.constantFrom(...NAMES)
const number = fc.oneof(
  fc.nat().map(String),
  fc.tuple(fc.nat(99), fc.nat(999)).map(([whole, part]) => `${whole}.${part}`),
  fc.constantFrom('1e3', '2.5E-3', '123456789012345678901234567890'),
)
const plainText = fc.string({
  unit: fc.constantFrom(
    'a',
    'é',
    '😀',
    ' ',
    '\\n',
    '\\"',
    '\\\\',
    '$ ',
    '% ',
    '$${',
    '%%{',
    ' {',
    '}',
  ),
})
const blank = fc.constantFrom(' ', '  ', '\t', ' /* c */ ')
const OPERATORS = ['||', '&&', '==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%']

const { expression } = fc.letrec<{ expression: string; term: string; part: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, depthSize: 'small', withCrossShrink: true },
    tie('term'),
    fc
      .tuple(tie('term'), blank, fc.constantFrom(...OPERATORS), blank, tie('expression'))
      .map((pieces) => pieces.join('')),
    fc
      .tuple(tie('term'), tie('expression'), tie('expression'))
      .map(([condition, then, otherwise]) => `${condition} ? ${then} : ${otherwise}`),
  ),
  term: fc.oneof(
    { maxDepth: 5, depthSize: 'small', withCrossShrink: true },
    number,
    name,
    fc.constantFrom('true', 'false', 'null'),
    fc.array(tie('part'), { maxLength: 4 }).map((parts) => `"${parts.join('')}"`),
    fc.array(tie('expression'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(fc.tuple(name, tie('expression')), { maxLength: 3 })
      .map((entries) => `{\n${entries.map(([key, value]) => `${key} = ${value}\n`).join('')}}`),
    tie('expression').map((inner) => `(\n${inner})`),
    tie('term').map((inner) => `!${inner}`),
    tie('term').map((inner) => `-${inner}`),
    fc
      .tuple(name, fc.array(tie('expression'), { maxLength: 3 }), fc.constantFrom('', '...'))
      .map(([called, args, end]) => `${called}(${args.join(', ')}${args.length > 0 ? end : ''})`),
    fc
      .tuple(
        name,
        fc.array(fc.constantFrom('.a', '[0]', '["k"]', '.*', '[*]', '.0.a'), { maxLength: 4 }),
      )
      .map(([root, steps]) => root + steps.join('')),
    fc
      .tuple(name, tie('expression'), tie('expression'), tie('expression'))
      .map(
        ([item, list, value, condition]) => `[for ${item} in ${list} : ${value} if ${condition}]`,
      ),
    fc
      .tuple(name, name, tie('expression'), tie('expression'))
      .map(
        ([key, item, list, value]) => `{for ${key}, ${item} in ${list} : ${key} => ${value}...}`,
      ),
  ),
  part: fc.oneof(
    { maxDepth: 5, depthSize: 'small', withCrossShrink: true },
    plainText,
    tie('expression').map((value) => `\${${value}}`),
    fc
      .tuple(tie('expression'), tie('part'))
      .map(([condition, then]) => `%{ if ${condition} }${then}%{ endif }`),
    fc
      .tuple(name, tie('expression'), tie('part'))
      .map(([item, list, each]) => `%{ for ${item} in ${list} ~}${each}%{ endfor }`),
  ),
}))

/** Attributes with names of their own, and blocks. */
export const grammatical = fc
  .tuple(
    fc.array(expression, { maxLength: 4 }),
    fc.array(fc.tuple(name, fc.option(plainText), expression), { maxLength: 2 }),
  )
  .map(([attributes, blocks]) =>
    [
      ...attributes.map((value, index) => `attribute_${index} = ${value}\n`),
      ...blocks.map(([type, label, value]) => {
        const labels = label === null ? '' : ` "${label}"`
        return `${type}${labels} {\n  inner = ${value}\n}\n`
      }),
    ].join(''),
  )

const FRAGMENTS = [
  '"',
  '${',
  '%{',
  '}',
  '{',
  '[',
  ']',
  '(',
  ')',
  '<<E\n',
  '\n',
  '~',
  '...',
  '=>',
  '=',
  ',',
  '?',
  ':',
  '.',
  '*',
  '-',
  '!',
  'for ',
  ' in ',
  ' if ',
  'endif',
  'else',
  '\\',
  '/*',
  '*/',
  '#',
  '0',
  'e9',
  'x',
  '\0',
  '\u{1F600}',
  '\u{D800}',
  '::',
  'null',
]

/** A text with pieces of it removed, doubled, moved, or replaced by signs of the language. */
export const mutated = (texts: readonly string[]) =>
  fc
    .tuple(
      fc.constantFrom(...texts),
      fc.array(
        fc.tuple(
          fc.double({ min: 0, max: 1, noNaN: true }),
          fc.nat(20),
          fc.constantFrom('', ...FRAGMENTS),
        ),
        { minLength: 1, maxLength: 6 },
      ),
    )
    .map(([text, edits]) =>
      edits.reduce((edited, [where, length, put]) => {
        const at = Math.floor(where * edited.length)
        return edited.slice(0, at) + put + edited.slice(at + length)
      }, text),
    )

/** No document at all. */
export const noise = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 5, unit: 'binary' })), {
    maxLength: 60,
  })
  .map((pieces) => pieces.join(''))
