import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memberInvitation } from '#contract/accounts/members.ts'
import { plainText } from './plain-text.ts'
import { tokenRequest } from '#contract/identity/tokens.ts'
import { webhookRequest } from '#contract/webhooks/webhooks.ts'

const HALF = '\ud800'

test('plainText() takes whole characters, and neither controls nor half of a surrogate pair', () => {
  const words = plainText(20)
  for (const text of ['', 'plain', 'schön', '\u{1f600}']) assert.equal(words.parse(text), text)
  for (const text of ['\0', 'a\nb', '\u202e', HALF, `a${HALF}b`, '\udc00\ud83d'])
    assert.equal(words.safeParse(text).success, false, JSON.stringify(text))
})

const url = 'https://example.com/'
const events = ['balance.low']
const REQUESTS = [
  [tokenRequest, (text: string) => ({ name: text, scope: 'read' })],
  [memberInvitation, (text: string) => ({ name: text, role: 'owner' })],
  [memberInvitation, (text: string) => ({ name: 'Ada', contact: text, role: 'owner' })],
  [webhookRequest, (text: string) => ({ url, events, description: text })],
  [webhookRequest, (text: string) => ({ url: url + text, events })],
] as const

test('names, descriptions and addresses are refused with half of a surrogate pair', () => {
  for (const [schema, of] of REQUESTS) {
    assert.equal(schema.safeParse(of('words')).success, true, JSON.stringify(of('words')))
    assert.equal(schema.safeParse(of(HALF)).success, false, JSON.stringify(of(HALF)))
  }
})
