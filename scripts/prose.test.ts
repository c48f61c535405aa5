// Each prose rule finds its planted sentence, and the ratchet lets a folder's count only fall.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BANNED, folderOf, proseFaults, proseRatchet } from './prose.ts'

const rules = (path: string, text: string) => proseFaults(path, text).map(({ rule }) => rule)

const PLANTED: readonly [path: string, text: string, rule: RegExp][] = [
  ['src/a/a.ts', '// The S3 door parses the path.', /"door": write protocol/],
  ['src/a/a.ts', '/** Joules that the operator bears. */', /"bears": write absorb/],
  ['src/a/a.sql', '-- Refusals of nobody share a charge.', /write unattributed requests/],
  ['docs/a.md', 'The key is shown to whoever\nasks.', /"whoever": write the caller/],
  ['src/a/a.ts', '// A bill goes to who signs.', /write the caller/],
  ['src/a/a.ts', '// What only the owner may read.', /begins with a clause/],
  ['src/a/a.ts', '/**\n * Parses a path. Whether the bucket exists is not known.\n */', /clause/],
  ['src/a/a.ts', '/** Of the pot, before the level. */', /has no verb: "Of the pot/],
  ['src/a/a.ts', `// ${'word '.repeat(36)}`.trim(), /a sentence of 36 words/],
]

for (const [path, text, rule] of PLANTED)
  test(`proseFaults() finds in ${path}: ${rule.source}`, () => {
    const found = rules(path, text)
    assert.equal(found.length, 1, found.join('; '))
    assert.match(found[0] ?? '', rule)
  })

test('proseFaults() searches neither code nor strings nor real questions', () => {
  assert.deepEqual(rules('src/a/a.ts', "const door = 'door' // door"), [])
  assert.deepEqual(rules('src/a/a.ts', '// `whoever` is a name. What is the limit?'), [])
  assert.deepEqual(rules('docs/a.md', '# What it is\n```sh\nopen the door\n```\n| door |'), [])
  assert.deepEqual(rules('src/a/a.ts', `// ${'word '.repeat(30)}.\n// ${'word '.repeat(30)}.`), [])
  assert.deepEqual(rules('docs/a.md', `**${'word '.repeat(30)}.** ${'word '.repeat(30)}.`), [])
  assert.deepEqual(rules('src/a/a.ts', `// The life:\n//\n//   ${'step → '.repeat(40)}`), [])
})

test('proseRatchet() lets a count fall, not rise', () => {
  const text = '// The door.\n// Another door.\n'
  const faults = (allowed: number) => proseRatchet(['src/a/x.ts'], () => text, { 'src/a': allowed })
  assert.deepEqual(faults(3), [])
  assert.deepEqual(faults(2), [])
  assert.match(faults(1)[0]?.rule ?? '', /^2 faults of prose, 1 allowed/)
})

test('folderOf() counts an area of src, a folder of the root, or the root', () => {
  assert.equal(folderOf('src/cells/testing/a.ts'), 'src/cells')
  assert.equal(folderOf('src/main.ts'), 'src')
  assert.equal(folderOf('docs/guide/a.md'), 'docs')
  assert.equal(folderOf('README.md'), '.')
})

test('every banned word has a replacement that is not banned', () => {
  for (const [, replacement] of BANNED)
    for (const [pattern] of BANNED) assert.doesNotMatch(replacement, pattern)
})
