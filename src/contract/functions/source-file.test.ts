import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bundleName, sourceName } from './source-file.ts'

test('sourceName() gives back the file that bundleName() has named a module of', () => {
  const sources = ['hello.ts', 'hello.mts', 'page.tsx', 'old.cjs', 'hello.js', 'hello.mjs']
  assert.deepEqual(
    sources.map((source) => sourceName(bundleName(source))),
    sources,
  )
})

test('sourceName() leaves names that no bundle has', () => {
  const names = ['hello.py', 'hello.mjs', 'hello.min.mjs', 'hello.ts']
  assert.deepEqual(names.map(sourceName), names)
})
