import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namesIn, testNameFaults } from './tidy-tests.ts'

const faultsOf = (files: Readonly<Record<string, string>>): string[] =>
  testNameFaults(Object.keys(files), (path) => files[path] ?? '').map(
    ({ path, line, rule }) => `${path}:${line}: ${rule}`,
  )

test('testNameFaults() finds a name that another test has', () => {
  const files = {
    'src/a.test.ts': "test('a lease ends', () => {})\n",
    'test/b.test.ts': "import x\n\ntest(\n  'a lease ends',\n  { skip },\n)\n",
    'src/c.fixture.ts': "test('a lease ends', () => {})\n",
  }
  assert.deepEqual(faultsOf(files), ['test/b.test.ts:3: a test of src/a.test.ts:1 has this name'])
})

test('testNameFaults() finds a name that does not begin with its subject, outside of a group', () => {
  const text = [
    "describe('a journal', () => {",
    "  test('is kept', () => {})",
    '})',
    "test('what is not kept', () => {})",
    'test(`of ${name} nothing is kept`, () => {})',
    "test('offers are kept', () => {})",
  ]
  assert.deepEqual(faultsOf({ 'src/a.test.ts': text.join('\n') }), [
    'src/a.test.ts:4: the name of a test begins with its subject: what is not kept',
    'src/a.test.ts:5: the name of a test begins with its subject: of ${name} nothing is kept',
  ])
})

test('namesIn() reads names in any quotes, with escaped ones', () => {
  const text =
    String.raw`test('it\'s', f); test("a")` + '\n  test(`b ${c}`)\nawait t.test("d \'e\'")'
  assert.deepEqual(
    namesIn(text).map(({ name }) => name),
    [String.raw`it\'s`, 'b ${c}', "d 'e'"],
  )
})
