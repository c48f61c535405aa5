// Which runtime a file gets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseRuntime } from './runtimes.ts'

const FOUND = ['node24', 'python3.12', 'python3.9']
type Wish = Parameters<typeof chooseRuntime>[1]

test('a runtime is the one that is asked for, that of the version before, or the newest for the file', () => {
  const rows: readonly [Wish, string][] = [
    [{ file: 'a.ts' }, 'node24'],
    [{ file: 'a.py' }, 'python3.12'],
    [{ file: 'a.py', before: 'python3.9' }, 'python3.9'],
    [{ file: 'a.py', before: 'node24' }, 'python3.12'],
    [{ file: 'a.mjs', before: 'python3.9' }, 'node24'],
    [{ file: 'a.py', asked: 'python39', before: 'python3.12' }, 'python3.9'],
    [{ file: 'a.py', asked: 'python-3.12' }, 'python3.12'],
    [{ file: 'a.js', asked: 'nodejs24.x' }, 'node24'],
  ]
  for (const [wish, runtime] of rows)
    assert.equal(chooseRuntime(FOUND, wish), runtime, JSON.stringify(wish))
})

test('a runtime that the node has not, or that does not run the file, is refused with what there is', () => {
  const refused = (wish: Wish, code: string, words: RegExp) =>
    assert.throws(() => chooseRuntime(FOUND, wish), { code, message: words })
  for (const asked of ['python3.11', 'deno2', 'constructor'])
    refused(
      { file: 'a.py', asked },
      'runtime_unknown',
      /there are: node24, python3\.12, python3\.9$/,
    )
  refused(
    { file: 'a.py', asked: 'node24' },
    'invalid_request',
    /end with \.js, \.mjs, \.ts, \.mts$/,
  )
  refused({ file: 'a.rb' }, 'invalid_request', /end with \.js, \.mjs, \.ts, \.mts, \.py$/)
})
