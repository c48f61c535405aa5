// Code to copy carries any text that a person asks, and never more of a token than it was given.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { codeOf } from './code.ts'

const bodyOf = (content: string) => ({
  model: 'auto',
  stream: true,
  messages: [{ role: 'user', content }],
})
const apiUrl = 'http://localhost:8080'

test('curl hands any text to the API unchanged through a shell', () => {
  const contents = fc.sample(fc.string({ unit: 'grapheme' }), { numRuns: 20, seed: 7 })
  for (const content of [
    'it\'s $HOME `x` \\ "q"',
    ...contents.filter((some) => !some.includes('\0')),
  ]) {
    const code = codeOf.curl({ apiUrl, token: undefined, body: bodyOf(content) })
    const script = code.replace(/^curl -i/, `curl() { shift $(($# - 1)); printf %s "$1"; }; curl`)
    const printed = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
    assert.deepEqual(JSON.parse(printed), bodyOf(content))
  }
})

test('code without a token names the variable', () => {
  for (const make of Object.values(codeOf))
    assert.match(make({ apiUrl, token: undefined, body: bodyOf('x') }), /ERGON_TOKEN/)
  assert.match(codeOf.Python({ apiUrl, token: 'svc_1', body: bodyOf('x') }), /"stream": True/)
})
