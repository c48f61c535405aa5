// Code to copy carries any text that a person asks, and never more of a token than it was given.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { codeOf } from './code.ts'

const bodyOf = (content: string) => ({
  model: 'auto',
  stream: true,
  messages: [{ role: 'user', content }],
})
const apiUrl = 'http://localhost:8080'
/** In place of curl: prints its last argument. */
const PRINT_LAST = `curl() { shift $(($# - 1)); printf '%s\\0' "$1"; }`

test('curl hands any text to the API unchanged through a shell', async () => {
  const random = fc.sample(fc.string({ unit: 'grapheme' }), { numRuns: 20, seed: 7 })
  const contents = ['it\'s $HOME `x` \\ "q"', ...random.filter((some) => !some.includes('\0'))]
  const codes = contents.map((content) =>
    codeOf.curl({ apiUrl, token: undefined, body: bodyOf(content) }),
  )
  const script = [PRINT_LAST, ...codes].join('\n')
  const { stdout } = await promisify(execFile)('sh', ['-c', script])
  const printed = stdout.split('\0').slice(0, -1)
  assert.deepEqual(
    printed.map((body) => JSON.parse(body) as unknown),
    contents.map(bodyOf),
  )
})

test('code without a token names the variable', () => {
  for (const make of Object.values(codeOf))
    assert.match(make({ apiUrl, token: undefined, body: bodyOf('x') }), /ERGON_TOKEN/)
  assert.match(codeOf.Python({ apiUrl, token: 'svc_1', body: bodyOf('x') }), /"stream": True/)
})
