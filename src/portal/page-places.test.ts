import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placesOf } from './page-places.ts'

const TERMS = {
  baseUrl: 'http://localhost:8080',
  statusUrl: 'http://status.localhost:8084',
  signUp: 'open',
  pusdPerJ: '69444',
} as const

test('placesOf() tells the free joules of a day in the largest unit without a fraction', () => {
  const freeDay = (freeJ: string) => placesOf({ ...TERMS, freeJ })['free_day']
  assert.deepEqual(
    ['50000', '1500', '2000000', '7'].map(freeDay),
    ['50 kJ', '1500 J', '2 MJ', '7 J'].map((text) => text.replace(' ', '\u{a0}')),
  )
})

test('placesOf() tells the price of a megajoule, never below the true one', () => {
  const priceWords = (pusdPerJ: string) =>
    placesOf({ ...TERMS, freeJ: '0', pusdPerJ })['price_words']
  assert.equal(priceWords('69444'), 'A megajoule costs $0.0695.')
  assert.equal(priceWords('2500000'), 'A megajoule costs $2.5000.')
})

test('placesOf() has the address of the status page, for pages and their errors', () => {
  const { status_url: url } = placesOf({ ...TERMS, freeJ: '0' })
  assert.equal(url, 'http://status.localhost:8084')
})

test('placesOf() promises no free joules where there are none', () => {
  const { free_day: freeDay, funds_words: words } = placesOf({ ...TERMS, freeJ: '0' })
  assert.deepEqual([freeDay, words], ['', '$5 on file is only taken as you use it.'])
})

test('placesOf() says that money on file ends the free joules', () => {
  const { funds_words: words } = placesOf({ ...TERMS, freeJ: '50000' })
  assert.equal(
    words,
    '50\u{a0}kJ a day are free. With $5 on file each joule is paid, and there is no limit of a day.',
  )
})

test('placesOf() sends nobody to a link that a closed service refuses', () => {
  const words = (signUp: 'invite' | 'closed') => placesOf({ ...TERMS, signUp, freeJ: '0' })
  assert.match(words('invite')['invited_words'] ?? '', /Open the link/)
  const { invited_head: head, invited_words: closed } = words('closed')
  assert.equal(head, 'This Ergon takes nobody new')
  assert.doesNotMatch(closed ?? '', /Open the link/)
})
