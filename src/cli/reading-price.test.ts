import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReadingPrice } from './reading-price.ts'

/** The sentences at messages of these seconds and nanojoules of a stream. */
function told(...messages: readonly (readonly [second: number, nj: string, whole?: true])[]) {
  const price = createReadingPrice()
  return messages.map(([second, looking_nj, whole]) =>
    price({
      at: new Date(Date.UTC(2026, 10, 24) + second * 1000).toISOString(),
      looking_nj,
      ...(whole && { whole }),
    }),
  )
}

test('createReadingPrice() tells the price of a minute once, without the opening of the stream', () => {
  assert.deepEqual(told([0, '3240240', true], [6, '9000000'], [12, '15240240'], [18, '90000000']), [
    undefined,
    undefined,
    'reading costs about 60 mJ a minute; ^C ends it',
    undefined,
  ])
})

test('createReadingPrice() tells a large price without an exponent', () => {
  assert.match(told([0, '0', true], [10, '20000000']).at(-1) ?? '', /about 120 mJ a minute/)
})

test('createReadingPrice() counts from the newest stream, whose cost begins at nothing', () => {
  assert.deepEqual(told([0, '90000000', true], [9, '0', true], [18, '900000'], [20, '1100000']), [
    undefined,
    undefined,
    undefined,
    'reading costs about 6.0 mJ a minute; ^C ends it',
  ])
})
