import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from './log.ts'
import { tokenFinder, tokenMask } from './mask-tokens.ts'

const SECRET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZab'

test('tokenMask() finds tokens as sent and as encoded, and nothing shorter', () => {
  const mask = tokenMask(SECRET.length)
  assert.equal(mask(`a=svc_${SECRET}&b`), 'a=svc_***&b')
  assert.equal(mask(`whsec%5f${SECRET} svc%255F${SECRET}.`), 'whsec%5f*** svc%255F***.')
  assert.equal(mask(`%73%76c_${SECRET.replace('A', '%41')}%2F1`), '%73%76c_***%2F1')
  assert.equal(mask(`svc_${SECRET.slice(1)} b`), `svc_${SECRET.slice(1)} b`)
})

test('tokenFinder() gives each token that the mask hides, decoded', () => {
  const find = tokenFinder(SECRET.length)
  const token = `svc_${SECRET}`
  const all = (text: string) =>
    text.replace(/./g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
  const twice = all(token).replaceAll('%', '%25')
  const forms = [token, encodeURIComponent(token), token.replace('_', '%5f'), all(token), twice]
  for (const form of [...forms, twice.replaceAll('%25', '%2525'), token.replace('svc', 'sv%63')]) {
    const text = `/b/k?a=1&X-Amz-Credential=${form}%2F20261121&b=%zz`
    assert.ok(tokenMask(SECRET.length)(text).includes('***'), form)
    assert.deepEqual([...find(text)], [token], form)
  }
  assert.deepEqual([...find(`/svc_${SECRET.slice(1)}/%25`)], [])
})

test('a log line has no token, not even one that was cut', () => {
  const lines: string[] = []
  const log = createLogger('test', { write: (line) => lines.push(line) })
  log.info(`for svc_${SECRET}`, { error: `svc%5F${SECRET.slice(0, 8)}`, other: 'svc_short' })
  assert.match(lines[0] ?? '', /"for svc_\*\*\*"/)
  assert.match(lines[0] ?? '', /"svc%5F\*\*\*"/)
  assert.match(lines[0] ?? '', /"svc_short"/)
})
